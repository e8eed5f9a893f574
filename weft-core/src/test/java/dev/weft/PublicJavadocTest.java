package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.ModifiersTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.DocTrees;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePathScanner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.lang.model.element.Modifier;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The API that users compile against is documented. */
class PublicJavadocTest {
  @Test
  void everyPublicTypeAndMethodHasAComment() throws Exception {
    assertThat(undocumented(sourcesOfExportedPackages())).isEmpty();
  }

  private static List<Path> sourcesOfExportedPackages() throws IOException {
    List<Path> sources = new ArrayList<>();
    Path root = Path.of(System.getProperty("weft.root"), "weft-core/src/main/java");
    for (String name : PublicApiTest.exportedPackages()) {
      try (Stream<Path> files = Files.list(root.resolve(name.replace('.', '/')))) {
        files.filter(file -> file.toString().endsWith(".java")).forEach(sources::add);
      }
    }
    return sources;
  }

  /** Returns the public types and methods, except overriding methods, that have no comment. */
  private static List<String> undocumented(List<Path> sources) throws IOException {
    List<String> undocumented = new ArrayList<>();
    var compiler = ToolProvider.getSystemJavaCompiler();
    try (var files = compiler.getStandardFileManager(null, null, null)) {
      var task =
          (JavacTask)
              compiler.getTask(
                  null, files, null, null, null, files.getJavaFileObjectsFromPaths(sources));
      DocTrees comments = DocTrees.instance(task);
      for (CompilationUnitTree unit : task.parse()) {
        new TreePathScanner<@Nullable Void, @Nullable Void>() {
          @Override
          public @Nullable Void visitClass(ClassTree type, @Nullable Void unused) {
            if (!isPublic(type.getModifiers())) {
              return null; // and so is every member
            }
            check(type.getSimpleName().toString());
            return super.visitClass(type, null);
          }

          @Override
          public @Nullable Void visitMethod(MethodTree method, @Nullable Void unused) {
            if (isPublic(method.getModifiers()) && !overrides(method)) {
              check(method.getName().toString());
            }
            return null;
          }

          private void check(String name) {
            if (comments.getDocComment(getCurrentPath()) == null) {
              undocumented.add(unit.getSourceFile().getName() + ": " + name);
            }
          }
        }.scan(unit, null);
      }
    }
    return undocumented;
  }

  private static boolean isPublic(ModifiersTree modifiers) {
    return modifiers.getFlags().contains(Modifier.PUBLIC)
        || modifiers.getFlags().contains(Modifier.PROTECTED);
  }

  private static boolean overrides(MethodTree method) {
    return method.getModifiers().getAnnotations().stream()
        .map(annotation -> annotation.getAnnotationType())
        .map(Tree::toString)
        .anyMatch("Override"::equals);
  }
}
