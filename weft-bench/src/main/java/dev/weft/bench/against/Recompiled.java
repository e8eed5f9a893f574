package dev.weft.bench.against;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Benchmark classes that do not link with another build of Weft as they are, since a class became
 * an interface or a method returns another type, but compile against it. The code that JMH made for
 * them names benchmark classes only and is used as it is.
 *
 * @param sources where this commit's benchmarks are
 * @param classes takes what is compiled
 */
record Recompiled(Path sources, Path classes) {
  /**
   * Compiles a class and all other benchmark classes that it names.
   *
   * @return the compiler's first complaint, if it has one; nothing is kept then
   */
  Optional<String> add(Class<?> benchmark, String classPath) throws IOException {
    String file = benchmark.getName().replaceAll("\\$.*", "").replace('.', '/') + ".java";
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    if (compiler == null || !Files.exists(sources.resolve(file))) {
      return Optional.of("needs a JDK and " + sources.resolve(file));
    }
    Path output = Folders.renew(classes.resolveSibling("compiled"));
    DiagnosticCollector<JavaFileObject> complaints = new DiagnosticCollector<>();
    try (StandardJavaFileManager files =
        compiler.getStandardFileManager(complaints, Locale.ROOT, StandardCharsets.UTF_8)) {
      List<String> options =
          List.of(
              "-cp",
              classPath,
              "-sourcepath",
              sources.toString(),
              "-d",
              output.toString(),
              "-Xprefer:source",
              "-implicit:class",
              "-proc:none",
              "-nowarn",
              "-g",
              "--add-exports=java.base/jdk.internal.vm=ALL-UNNAMED");
      boolean compiles =
          compiler
              .getTask(
                  null,
                  files,
                  complaints,
                  options,
                  null,
                  files.getJavaFileObjects(sources.resolve(file)))
              .call();
      if (compiles) {
        moveAll(output);
        return Optional.empty();
      }
    }
    return Optional.of(
        complaints.getDiagnostics().stream()
            .filter(each -> each.getKind() == Diagnostic.Kind.ERROR)
            .map(each -> each.getMessage(Locale.ROOT).lines().map(String::strip).toList())
            .map(lines -> String.join(" ", lines))
            .findFirst()
            .orElse("does not compile"));
  }

  private void moveAll(Path output) throws IOException {
    try (Stream<Path> files = Files.walk(output).filter(Files::isRegularFile)) {
      for (Path file : files.toList()) {
        Path target = classes.resolve(output.relativize(file).toString());
        Files.createDirectories(target.getParent());
        Files.move(file, target, StandardCopyOption.REPLACE_EXISTING);
      }
    }
  }
}
