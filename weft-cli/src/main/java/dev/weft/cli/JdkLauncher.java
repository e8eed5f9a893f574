package dev.weft.cli;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.Attributes;
import org.jspecify.annotations.Nullable;

/**
 * What the launcher of the JDK may do and others may not: by methods of {@code java.lang}, which
 * {@code weft.args} opens, and of packages that these open in turn.
 */
final class JdkLauncher {
  private JdkLauncher() {}

  /**
   * Puts a jar or folder on the class path of the running JVM, by the way that agents use, so that
   * its classes are the application class loader's, as they are under plain {@code java}.
   */
  static void appendToClassPath(Path entry) {
    ClassLoader loader = ClassLoader.getSystemClassLoader();
    openToUs(loader.getClass());
    call(
        loader.getClass(),
        "appendToClassPathForInstrumentation",
        loader,
        String.class,
        entry.toAbsolutePath().toString());
  }

  /** Opens the package of a class to this one. */
  static void openToUs(Class<?> type) {
    Module us = JdkLauncher.class.getModule();
    if (!type.getModule().isOpen(type.getPackageName(), us)) {
      try {
        Method open = Module.class.getDeclaredMethod("implAddOpens", String.class, Module.class);
        open.setAccessible(true);
        open.invoke(type.getModule(), type.getPackageName(), us);
      } catch (ReflectiveOperationException e) {
        throw cannot(e);
      }
    }
  }

  /** Does what a jar's manifest asks of {@code java -jar}. */
  static void obey(Attributes manifest, List<Path> classPath) {
    if (manifest.getValue("Launcher-Agent-Class") != null) {
      loadAgent(classPath.getFirst());
    }
    forEachPackage(manifest.getValue("Add-Exports"), "implAddExportsToAllUnnamed");
    forEachPackage(manifest.getValue("Add-Opens"), "implAddOpensToAllUnnamed");
    // Enable-Native-Access: ALL-UNNAMED, its only value, is in weft.args
  }

  private static void forEachPackage(@Nullable String packages, String method) {
    if (packages == null) {
      return;
    }
    for (String name : packages.strip().split("\\s+", -1)) {
      String[] parts = name.split("/", 2);
      ModuleLayer.boot()
          .findModule(parts[0])
          .filter(module -> parts.length == 2 && module.getPackages().contains(parts[1]))
          .ifPresent(module -> call(Module.class, method, module, String.class, parts[1]));
    }
  }

  private static void loadAgent(Path jar) {
    try {
      Class<?> instrumentation = Class.forName("sun.instrument.InstrumentationImpl", false, null);
      openToUs(instrumentation);
      call(instrumentation, "loadAgent", null, String.class, jar.toString());
    } catch (ClassNotFoundException e) {
      throw UserMistake.program(
          "cannot start the agent in " + jar + ": this JDK has no module java.instrument");
    }
  }

  private static void call(
      Class<?> type, String name, @Nullable Object target, Class<?> parameter, Object argument) {
    try {
      Method method = type.getDeclaredMethod(name, parameter);
      method.setAccessible(true);
      method.invoke(target, argument);
    } catch (InvocationTargetException e) {
      throw UserMistake.program(name + " " + argument + " failed: " + e.getCause());
    } catch (ReflectiveOperationException e) {
      throw cannot(e);
    }
  }

  private static IllegalStateException cannot(ReflectiveOperationException e) {
    return new IllegalStateException(
        "this JDK (" + Runtime.version() + ") has another launcher: use JDK 25", e);
  }
}
