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
import java.net.URL;
import java.net.URLClassLoader;
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

/**
 * A program in one source file. As for {@code java Program.java}, the class to run is the first one
 * in it, whatever its name; if that has no main, the one that is named like the file.
 */
final class SourceFile {
  // beside the classes: the name of the one to run
  static final String MAIN_CLASS = "main-class.txt";

  /** Set by {@code ./weft} if the user's JVM options enable preview features. */
  private static final boolean PREVIEW = Boolean.getBoolean("weft.preview");

  private SourceFile() {}

  /**
   * Compiles the file, unless the same text was compiled before.
   *
   * @throws UserMistake if it does not compile; the compiler's messages are on stderr by then
   */
  static Program compile(Path source, List<Path> given) {
    return compile(source, given, System.getProperty("java.class.path"));
  }

  /** Compiles the file for a JVM with Weft on this class path. */
  static Program compile(Path source, List<Path> given, String weft) {
    try {
      List<Path> libraries = new ArrayList<>(given);
      libraries.addAll(Libraries.of(source));
      List<Path> classPath = new ArrayList<>(libraries);
      Stream.of(weft.split(File.pathSeparator, -1)).map(Path::of).forEach(classPath::add);
      Path classes =
          CompiledPrograms.get(
              source, classPath, PREVIEW, folder -> javac(source, classPath, folder));
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
    List<String> options = new ArrayList<>();
    if (PREVIEW) {
      options.addAll(List.of("--enable-preview", "--release", "" + Runtime.version().feature()));
    }
    options.addAll(
        List.of("-d", classes.toString(), "-cp", path, "-g", "-proc:none", "-implicit:none"));
    PrintWriter stderr = new PrintWriter(System.err, true, System.err.charset());
    Types types = new Types();
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
      JavaFileObject file = new AnyName(files.getJavaFileObjects(source).iterator().next());
      JavacTask task =
          (JavacTask) compiler.getTask(stderr, files, null, options, null, List.of(file));
      task.addTaskListener(types);
      if (!task.call()) {
        throw UserMistake.program(source + " does not compile");
      }
    }
    if (types.names.isEmpty()) {
      throw UserMistake.program(source + " declares no class");
    }
    String first = types.names.getFirst();
    String likeFile = types.prefix + source.getFileName().toString().replaceFirst("\\.java$", "");
    boolean second = types.names.indexOf(likeFile) > 0 && !hasMain(first, classes, classPath);
    Files.writeString(classes.resolve(MAIN_CLASS), second ? likeFile : first);
  }

  /** Looks for a main method in a class that was just compiled, or above it. */
  private static boolean hasMain(String name, Path classes, List<Path> classPath)
      throws IOException {
    List<URL> urls = new ArrayList<>(List.of(classes.toUri().toURL()));
    for (Path entry : classPath) {
      urls.add(entry.toUri().toURL());
    }
    try (URLClassLoader loader = new URLClassLoader(urls.toArray(new URL[0]))) {
      return MainMethod.isIn(Class.forName(name, false, loader));
    } catch (ClassNotFoundException | LinkageError e) {
      return true; // the launcher will meet it too, and tell
    }
  }

  /** Notes the top-level classes of the file when the compiler has parsed it. */
  private static final class Types implements TaskListener {
    private final List<String> names = new ArrayList<>();

    // of the package, with its dot
    private String prefix = "";

    @Override
    public void finished(TaskEvent event) {
      if (event.getKind() == TaskEvent.Kind.PARSE && names.isEmpty()) { // others may follow
        CompilationUnitTree unit = event.getCompilationUnit();
        prefix = unit.getPackageName() == null ? "" : unit.getPackageName() + ".";
        for (Tree declaration : unit.getTypeDecls()) {
          if (declaration instanceof ClassTree type) {
            names.add(prefix + type.getSimpleName());
          }
        }
      }
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
