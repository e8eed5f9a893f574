package dev.weft.cli;

import dev.weft.Fiber;
import dev.weft.internal.HookFamilies;
import dev.weft.internal.JvmThreads;
import dev.weft.internal.poller.Poller;
import dev.weft.internal.sched.ProgramMain;
import java.io.File;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Starts a program's {@code main} as {@code java} would, but as a fiber. */
final class Launcher {
  /** Ends the main thread with status 1 when all has been said. */
  private static final class Failed extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Failed() {
      super(null, null, false, false);
    }
  }

  private Launcher() {}

  /**
   * Runs the program and returns when its main has, and the fibers that it began.
   *
   * @throws Throwable if main failed: the JVM then reports what has not been reported yet, waits
   *     for other threads of the program and ends with status 1
   */
  static void launch(Program program, RunOptions options) throws Throwable {
    checkProperties();
    checkJvm();
    Fiber.current(); // opens what the steps below need, if the JVM was started without Weft's flags
    String[] arguments = options.arguments().toArray(new String[0]);
    System.setProperty(
        "sun.java.command",
        Stream.concat(Stream.of(options.target()), Stream.of(arguments))
            .collect(Collectors.joining(" ")));
    extendClassPath(program.classPath());
    JdkLauncher.obey(program.manifest(), program.classPath());
    MainMethod main = MainMethod.of(load(program));
    if (options.mainThread()) {
      ProgramMain.hostVirtualThreads(options.threads());
      runHere(main, arguments);
    } else {
      runAsFiber(main, arguments, options.threads());
    }
  }

  /** Looks at Weft's own properties, before threads begin that trip over them too. */
  static void checkProperties() {
    try {
      HookFamilies.check();
      JvmThreads.check();
      Poller.isEpoll();
    } catch (IllegalArgumentException e) {
      throw UserMistake.usage(e.getMessage());
    } catch (ExceptionInInitializerError e) {
      if (e.getCause() instanceof IllegalArgumentException cause) {
        throw UserMistake.usage(cause.getMessage());
      }
      throw e;
    }
  }

  private static void checkJvm() {
    try {
      ProgramMain.checkJvm();
    } catch (ExceptionInInitializerError e) {
      throw UserMistake.program(String.valueOf(e.getMessage()));
    }
  }

  private static void runHere(MainMethod main, String[] arguments) throws Throwable {
    try {
      main.invoke(arguments);
    } catch (Throwable e) {
      throw StackTraces.withoutLauncher(e);
    }
  }

  private static void runAsFiber(MainMethod main, String[] arguments, int threads) {
    AtomicBoolean failed = new AtomicBoolean();
    ProgramMain.run(
        threads,
        () -> {
          try {
            main.invoke(arguments);
          } catch (Throwable e) {
            failed.set(true);
            report(StackTraces.withoutLauncher(e));
          }
        });
    if (failed.get()) {
      Thread.currentThread().setUncaughtExceptionHandler((thread, e) -> {});
      throw new Failed();
    }
  }

  /**
   * Hands a failure of main to the handler that the JVM would call, at once: fibers of main may
   * still run.
   */
  private static void report(Throwable thrown) {
    Thread main = Thread.currentThread();
    try {
      main.getUncaughtExceptionHandler().uncaughtException(main, thrown);
    } catch (Throwable e) {
      // a handler that fails itself is ignored, as by the JVM
    }
  }

  private static Class<?> load(Program program) {
    String name = program.mainClass();
    Module module = program.module();
    try {
      if (module == null) {
        return Class.forName(name, false, ClassLoader.getSystemClassLoader());
      }
      Class<?> type = Class.forName(module, name);
      if (type == null) {
        throw UserMistake.usage("class " + name + " not found in " + module);
      }
      JdkLauncher.openToUs(type);
      return type;
    } catch (ClassNotFoundException e) {
      throw UserMistake.usage(
          "class %s not found on the class path %s".formatted(name, join(program.classPath())));
    } catch (LinkageError e) {
      throw UserMistake.program("cannot load class " + name + ": " + e);
    }
  }

  /** Puts on the class path what {@code ./weft} has not: compiled source files, mostly. */
  private static void extendClassPath(List<Path> entries) {
    String classPath = System.getProperty("java.class.path");
    List<String> known = List.of(classPath.split(File.pathSeparator, -1));
    List<Path> missing =
        entries.stream().filter(entry -> !known.contains(entry.toString())).toList();
    if (!missing.isEmpty()) {
      missing.forEach(JdkLauncher::appendToClassPath);
      System.setProperty("java.class.path", join(missing) + File.pathSeparator + classPath);
    }
  }

  static String join(List<Path> entries) {
    return entries.stream()
        .map(entry -> entry.toString().isEmpty() ? "." : entry.toString())
        .collect(Collectors.joining(File.pathSeparator));
  }
}
