package dev.weft.cli;

import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/** Starts a program's {@code main} as {@code java} would. */
final class Launcher {
  private Launcher() {}

  /**
   * Runs the program on this thread and returns when its main does.
   *
   * @throws Throwable what main threw, with nothing of the launcher in its stack trace
   */
  static void launch(Program program, String[] arguments) throws Throwable {
    extendClassPath(program.classPath());
    MainMethod main = MainMethod.of(load(program));
    try {
      main.invoke(arguments);
    } catch (InvocationTargetException e) {
      throw StackTraces.withoutLauncher(e.getCause());
    }
  }

  private static Class<?> load(Program program) {
    String name = program.mainClass();
    try {
      return Class.forName(name, false, ClassLoader.getSystemClassLoader());
    } catch (ClassNotFoundException e) {
      throw UserMistake.usage(
          "class %s not found on the class path %s".formatted(name, join(program.classPath())));
    } catch (LinkageError e) {
      throw UserMistake.program("cannot load class " + name + ": " + e);
    }
  }

  /**
   * Puts the program on the class path of the running JVM, by the way that agents use, so that its
   * classes are the application class loader's, as they are under plain {@code java}. {@code
   * ./weft} opens the package that this needs.
   */
  private static void extendClassPath(List<Path> entries) throws ReflectiveOperationException {
    ClassLoader loader = ClassLoader.getSystemClassLoader();
    Method append =
        loader.getClass().getDeclaredMethod("appendToClassPathForInstrumentation", String.class);
    append.setAccessible(true);
    for (Path entry : entries) {
      append.invoke(loader, entry.toAbsolutePath().toString());
    }
    System.setProperty(
        "java.class.path",
        join(entries) + File.pathSeparator + System.getProperty("java.class.path"));
  }

  private static String join(List<Path> entries) {
    return entries.stream()
        .map(entry -> entry.toString().isEmpty() ? "." : entry.toString())
        .collect(Collectors.joining(File.pathSeparator));
  }
}
