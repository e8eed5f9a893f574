package dev.weft.cli;

import dev.weft.sim.Simulation;
import dev.weft.sim.SimulationBody;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A program whose main is run many times. What a run leaves in static fields must not reach the
 * next: if a class of the program has such state, each run has the classes to itself, loaded by a
 * loader of its own. Without such state all runs share one loader, which is ten times as fast.
 */
final class SimProgram implements SimulationBody, AutoCloseable {
  private final Program program;
  private final String[] arguments;
  private final RunOutput output;
  private final URLClassLoader files;
  private Loader loader;

  SimProgram(Program program, List<String> arguments, RunOutput output) {
    this.program = program;
    this.arguments = arguments.toArray(new String[0]);
    this.output = output;
    this.files = new URLClassLoader(urls(program.classPath()), null);
    this.loader = new Loader(files);
    MainMethod.of(load()); // refuses a program that cannot be started, before the first run
  }

  /**
   * Returns the names of the program's own part, for points: the package of its main class, or all
   * classes of a source file without a package.
   */
  static List<String> ownNames(Program program) {
    String main = program.mainClass();
    int dot = main.lastIndexOf('.');
    if (dot >= 0) {
      return List.of(main.substring(0, dot));
    }
    Path folder = program.classPath().getFirst();
    if (Files.isRegularFile(folder.resolve(SourceFile.MAIN_CLASS))) {
      try (Stream<Path> all = Files.list(folder)) {
        return all.map(file -> file.getFileName().toString())
            .filter(name -> name.endsWith(".class") && !name.contains("$"))
            .map(name -> name.substring(0, name.length() - ".class".length()))
            .sorted()
            .toList();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return List.of(main);
  }

  private static URL[] urls(List<Path> classPath) {
    List<URL> urls = new ArrayList<>();
    for (Path entry : classPath) {
      try {
        urls.add((entry.toString().isEmpty() ? Path.of(".") : entry).toUri().toURL());
      } catch (IOException e) {
        throw UserMistake.usage("cannot use " + entry + " as a class path: " + e.getMessage());
      }
    }
    return urls.toArray(new URL[0]);
  }

  private Class<?> load() {
    String name = program.mainClass();
    try {
      return Class.forName(name, false, loader);
    } catch (ClassNotFoundException e) {
      throw UserMistake.usage(
          "class %s not found on the class path %s"
              .formatted(name, Launcher.join(program.classPath())));
    } catch (LinkageError e) {
      throw UserMistake.program("cannot load class " + name + ": " + e);
    }
  }

  @Override
  public void run(Simulation simulation) throws Exception {
    output.begin(simulation);
    simulation.lastAsAProcess();
    if (loader.hasState) {
      loader = new Loader(files);
    }
    Class<?> type = load();
    Thread.currentThread().setContextClassLoader(type.getClassLoader());
    try {
      MainMethod.of(type).invoke(arguments.clone());
    } catch (Exception | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    try {
      files.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The classes of the program; those of Weft and the JDK are the JVM's. */
  private static final class Loader extends ClassLoader {
    static {
      registerAsParallelCapable();
    }

    private final URLClassLoader files;

    // whether a class that it has loaded keeps state in static fields
    private volatile boolean hasState;

    Loader(URLClassLoader files) {
      super(ClassLoader.getSystemClassLoader());
      this.files = files;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (name.startsWith("java.") || name.startsWith("dev.weft.")) {
        return super.loadClass(name, resolve);
      }
      synchronized (getClassLoadingLock(name)) {
        Class<?> loaded = findLoadedClass(name);
        URL url = loaded == null ? files.findResource(name.replace('.', '/') + ".class") : null;
        return loaded != null
            ? loaded
            : url != null ? define(name, url) : super.loadClass(name, resolve);
      }
    }

    private Class<?> define(String name, URL url) throws ClassNotFoundException {
      try (var in = url.openStream()) {
        byte[] bytes = in.readAllBytes();
        hasState |= StaticState.isIn(bytes);
        return defineClass(name, bytes, 0, bytes.length);
      } catch (IOException e) {
        throw new ClassNotFoundException(name, e);
      }
    }

    @Override
    protected URL findResource(String name) {
      return files.findResource(name);
    }
  }
}
