package dev.weft.sim.agent;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.zip.ZipEntry;
import org.jspecify.annotations.Nullable;

/**
 * Loads the agent into this JVM, without a flag and without a second process, and has classes
 * rewritten: those of the JDK once, those of the program when its packages are first named.
 *
 * <pre>
 *   two small jars are written:   agent.jar   AgentEntry, with Launcher-Agent-Class
 *                                 boot.jar    RewrittenCalls, those of files and sockets
 *   InstrumentationImpl.loadAgent(agent.jar)  as the java launcher does for an executable jar
 *   appendToBootstrapClassLoaderSearch(boot.jar)
 *   retransformClasses                        JdkPatches, ProgramRewriter
 * </pre>
 *
 * <p>The class refers to nothing in {@code dev.weft.sim.boot}: the boot loader has to be the first
 * to load those classes.
 */
public final class Agent {
  /** What is refused of a wait during which no other fiber could run. */
  public static final String HOLDS_ITS_THREAD =
      "a wait that holds its thread: in a class initializer, below a native method or while the"
          + " hook is disabled";

  private static final String BOOT = "dev/weft/sim/boot/";
  private static final List<String> BOOT_CLASSES =
      List.of(
          BOOT + "CurrentWorld.class",
          BOOT + "CurrentFiles.class",
          BOOT + "RewrittenCalls.class",
          BOOT + "RewrittenFiles.class",
          BOOT + "SimulatedSockets.class",
          BOOT + "RewrittenSockets.class");

  private static @Nullable Rewriter rewriter;

  private Agent() {}

  /**
   * Ensures that the JDK is rewritten, and the program with points in these packages.
   *
   * @throws IllegalStateException if this JVM does not allow it, or is not as expected
   */
  public static synchronized void prepare(Collection<String> packages) {
    Rewriter made = rewriter;
    if (made == null) {
      made = load();
      rewriter = made;
    }
    made.addPackages(packages);
  }

  /**
   * Throws if a class that was loaded since then could not be rewritten.
   *
   * @throws IllegalStateException if so: its operations are no points
   */
  public static synchronized void check() {
    if (rewriter != null) {
      rewriter.check();
    }
  }

  private static Rewriter load() {
    Instrumentation instrumentation;
    try {
      instrumentation = instrumentation();
      instrumentation.appendToBootstrapClassLoaderSearch(
          new JarFile(jar("weft-sim-boot", BOOT_CLASSES, new Attributes()).toFile()));
    } catch (Throwable e) {
      throw new IllegalStateException(
          "cannot simulate: the agent cannot be loaded into this JVM ("
              + e
              + "). Start the JVM with the flags in weft.args, with the module java.instrument,"
              + " and with weft-sim on the class path",
          e);
    }
    Rewriter made = new Rewriter(instrumentation);
    made.rewriteJdk();
    return made;
  }

  private static Instrumentation instrumentation() throws Throwable {
    Instrumentation given = given();
    if (given != null) {
      return given;
    }
    Attributes attributes = new Attributes();
    attributes.putValue("Launcher-Agent-Class", AgentEntry.class.getName());
    attributes.putValue("Can-Retransform-Classes", "true");
    attributes.putValue("Can-Redefine-Classes", "true");
    String entry = AgentEntry.class.getName().replace('.', '/') + ".class";
    Path jar = jar("weft-sim-agent", List.of(entry), attributes);
    Class<?> implementation = Class.forName("sun.instrument.InstrumentationImpl");
    export(implementation);
    MethodHandles.lookup()
        .findStatic(implementation, "loadAgent", MethodType.methodType(void.class, String.class))
        .invoke(jar.toString());
    given = given();
    if (given == null) {
      throw new IllegalStateException("the JVM has not called " + entry);
    }
    return given;
  }

  /** Returns what the JVM has handed over; the system loader's class may not be this loader's. */
  private static @Nullable Instrumentation given() throws ReflectiveOperationException {
    try {
      return (Instrumentation)
          ClassLoader.getSystemClassLoader()
              .loadClass(AgentEntry.class.getName())
              .getField("instrumentation")
              .get(null);
    } catch (ClassNotFoundException e) {
      return null; // before the agent jar is on the system class path
    }
  }

  /** Exports the package of a class to this module; java.lang is open to Weft, which allows it. */
  private static void export(Class<?> type) throws Throwable {
    tell(type, "implAddExports");
  }

  /** Opens the package of a class to this module. */
  static void open(Class<?> type) throws Throwable {
    tell(type, "implAddOpens");
  }

  private static void tell(Class<?> type, String method) throws Throwable {
    dev.weft.internal.jdk.RequiredFlags.check();
    MethodHandle told =
        MethodHandles.privateLookupIn(Module.class, MethodHandles.lookup())
            .findVirtual(
                Module.class,
                method,
                MethodType.methodType(void.class, String.class, Module.class));
    told.invoke(type.getModule(), type.getPackageName(), Agent.class.getModule());
  }

  /** Writes a jar of classes of this module into a temporary file. */
  private static Path jar(String name, List<String> classes, Attributes attributes)
      throws IOException {
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().putAll(attributes);
    Path file = Files.createTempFile(name, ".jar");
    file.toFile().deleteOnExit();
    try (OutputStream out = Files.newOutputStream(file);
        JarOutputStream jar = new JarOutputStream(out, manifest)) {
      for (String entry : classes) {
        jar.putNextEntry(new ZipEntry(entry));
        try (InputStream in = Agent.class.getClassLoader().getResourceAsStream(entry)) {
          if (in == null) {
            throw new IOException("no resource " + entry);
          }
          in.transferTo(jar);
        }
        jar.closeEntry();
      }
    }
    return file;
  }

  /** Retransforms those loaded classes that a filter wants. */
  static void retransform(Instrumentation instrumentation, Set<Class<?>> wanted)
      throws UnmodifiableClassException {
    List<Class<?>> modifiable = new ArrayList<>();
    for (Class<?> type : wanted) {
      if (instrumentation.isModifiableClass(type)) {
        modifiable.add(type);
      }
    }
    if (!modifiable.isEmpty()) {
      instrumentation.retransformClasses(modifiable.toArray(new Class<?>[0]));
    }
  }
}
