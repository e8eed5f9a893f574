package dev.weft.cli;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TaskEvent;
import com.sun.source.util.TaskListener;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.ForwardingJavaFileObject;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/**
 * A program in one source file. As for {@code java Program.java}, the first class in it is the one
 * to run, and it need not be named like the file.
 */
final class SourceFile {
  // beside the classes: the name of the one to run
  private static final String MAIN_CLASS = "main-class.txt";

  private SourceFile() {}

  /**
   * Compiles the file, unless the same text was compiled before.
   *
   * @throws UserMistake if it does not compile; the compiler's messages are on stderr by then
   */
  static Program compile(Path source, List<Path> given) {
    try {
      List<Path> libraries = new ArrayList<>(given);
      libraries.addAll(Libraries.of(source));
      List<Path> classPath = new ArrayList<>(libraries);
      Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
          .map(Path::of)
          .forEach(classPath::add);
      Path classes =
          CompiledPrograms.get(source, classPath, folder -> javac(source, classPath, folder));
      List<Path> programs = new ArrayList<>(libraries);
      programs.addFirst(classes);
      return new Program(programs, Files.readString(classes.resolve(MAIN_CLASS)));
    } catch (IOException e) {
      throw UserMistake.program("cannot compile " + source + ": " + e);
    }
  }

  private static void javac(Path source, List<Path> classPath, Path classes) throws IOException {
    String path =
        classPath.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    List<String> options =
        List.of("-d", classes.toString(), "-cp", path, "-g", "-proc:none", "-implicit:none");
    PrintWriter stderr = new PrintWriter(System.err, true, System.err.charset());
    FirstClass first = new FirstClass();
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
      JavaFileObject file = new AnyName(files.getJavaFileObjects(source).iterator().next());
      JavacTask task =
          (JavacTask) compiler.getTask(stderr, files, null, options, null, List.of(file));
      task.addTaskListener(first);
      if (!task.call()) {
        throw UserMistake.program(source + " does not compile");
      }
    }
    if (first.name == null) {
      throw UserMistake.program(source + " declares no class");
    }
    Files.writeString(classes.resolve(MAIN_CLASS), first.name);
  }

  /** Notes the first class of the file when the compiler has parsed it. */
  private static final class FirstClass implements TaskListener {
    private @Nullable String name;

    @Override
    public void finished(TaskEvent event) {
      if (event.getKind() == TaskEvent.Kind.PARSE) {
        name = firstClassIn(event.getCompilationUnit());
      }
    }

    private static @Nullable String firstClassIn(CompilationUnitTree unit) {
      String prefix = unit.getPackageName() == null ? "" : unit.getPackageName() + ".";
      for (Tree declaration : unit.getTypeDecls()) {
        if (declaration instanceof ClassTree type) {
          return prefix + type.getSimpleName();
        }
      }
      return null;
    }
  }

  /** A source file that may declare a public class of any name. */
  private static final class AnyName extends ForwardingJavaFileObject<JavaFileObject> {
    AnyName(JavaFileObject file) {
      super(file);
    }

    @Override
    public boolean isNameCompatible(String simpleName, Kind kind) {
      return kind == Kind.SOURCE;
    }
  }
}
