package dev.weft.internal.jdk;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * Defines classes in the boot loader by JNI, called by the foreign function API:
 *
 * <pre>
 *   libjvm ─ JNI_GetCreatedJavaVMs → JavaVM ─ GetEnv → JNIEnv ─ DefineClass(name, null, bytes)
 * </pre>
 *
 * <p>The JVM drops JNI's local references when a downcall returns, so the class that DefineClass
 * returns cannot be an argument of a second call. {@link Class#forName} finds it.
 *
 * <p>Addresses are numbers of 64 bits here: the JDK starts faster with those than with its
 * segments.
 */
@SuppressWarnings("restricted") // native access is the purpose of this class
final class BootClasses {
  // positions in JNI's function tables, which the JNI specification fixes for all versions
  private static final int GET_ENV = 6; // of JavaVM
  private static final int DEFINE_CLASS = 5; // of JNIEnv

  // as in jni.h
  private static final int JNI_OK = 0;
  private static final int JNI_VERSION_24 = 0x00180000;

  /** Room for the JVMs, the size of that room, room for their number. */
  private static final FunctionDescriptor GET_CREATED_JAVA_VMS_TYPE =
      FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG);

  /** The JVM, room for the environment, the version. */
  private static final FunctionDescriptor GET_ENV_TYPE =
      FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);

  /** The environment, a name, a loader, bytes, their number. */
  private static final FunctionDescriptor DEFINE_CLASS_TYPE =
      FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT);

  private final Linker linker = Linker.nativeLinker();
  private final Arena arena;

  private BootClasses(Arena arena) {
    this.arena = arena;
  }

  /**
   * Defines a class. The current thread must be a platform thread: a JNIEnv belongs to one thread,
   * and a virtual thread may change its carrier between two calls. If the JVM refuses the class,
   * the thread should end soon: nothing guarantees that JNI's pending exception comes out here.
   *
   * @param name with slashes
   * @throws IllegalCallerException if Weft has no native access
   * @throws IllegalStateException if the JVM has no JNI as expected
   * @throws LinkageError if the JVM refuses the class
   */
  static void define(String name, byte[] bytes) throws Throwable {
    if (Thread.currentThread().isVirtual()) {
      throw new IllegalStateException("a virtual thread has no JNIEnv of its own");
    }
    if (ADDRESS.byteSize() != Long.BYTES) {
      throw new IllegalStateException(
          "this JVM has addresses of %d bytes".formatted(ADDRESS.byteSize()));
    }
    try (Arena arena = Arena.ofConfined()) {
      new BootClasses(arena).defineHere(name, bytes);
    }
  }

  private void defineHere(String name, byte[] bytes) throws Throwable {
    long env = environment(runningVm());
    long nameInC = arena.allocateFrom(name).address();
    long bytesInC = arena.allocateFrom(JAVA_BYTE, bytes).address();
    MethodHandle define = function(env, DEFINE_CLASS, DEFINE_CLASS_TYPE);
    long defined = (long) define.invokeExact(env, nameInC, 0L, bytesInC, bytes.length);
    if (defined == 0) {
      throw new LinkageError("the JVM refuses to define the class " + name);
    }
  }

  private long runningVm() throws Throwable {
    MemorySegment vm = arena.allocate(JAVA_LONG);
    MemorySegment count = arena.allocate(JAVA_INT);
    MethodHandle find =
        linker.downcallHandle(
            libjvm().findOrThrow("JNI_GetCreatedJavaVMs"), GET_CREATED_JAVA_VMS_TYPE);
    int status = (int) find.invokeExact(vm.address(), 1, count.address());
    int found = count.toArray(JAVA_INT)[0];
    if (status != JNI_OK || found != 1) {
      throw new IllegalStateException(
          "JNI_GetCreatedJavaVMs returns %d and finds %d JVMs, not 1".formatted(status, found));
    }
    return vm.toArray(JAVA_LONG)[0];
  }

  /** Returns the library of the running JVM, which the process has loaded already. */
  private SymbolLookup libjvm() {
    String vm = System.getProperty("java.vm.name", "").toLowerCase(Locale.ROOT);
    String variant =
        Stream.of("client", "minimal", "zero").filter(vm::contains).findFirst().orElse("server");
    String file = System.mapLibraryName("jvm");
    String folder = file.endsWith(".dll") ? "bin" : "lib";
    Path library = Path.of(System.getProperty("java.home"), folder, variant, file);
    return SymbolLookup.libraryLookup(library, arena);
  }

  private long environment(long vm) throws Throwable {
    MemorySegment env = arena.allocate(JAVA_LONG);
    MethodHandle get = function(vm, GET_ENV, GET_ENV_TYPE);
    int status = (int) get.invokeExact(vm, env.address(), JNI_VERSION_24);
    if (status != JNI_OK) {
      throw new IllegalStateException("GetEnv of JNI 24 returns " + status);
    }
    return env.toArray(JAVA_LONG)[0];
  }

  /** Returns a function of a JNI object, which starts with the address of its function table. */
  private MethodHandle function(long object, int position, FunctionDescriptor type) {
    long table = longAt(object);
    long function = longAt(table + (long) position * Long.BYTES);
    return linker.downcallHandle(MemorySegment.ofAddress(function), type);
  }

  private static long longAt(long address) {
    return MemorySegment.ofAddress(address).reinterpret(Long.BYTES).toArray(JAVA_LONG)[0];
  }
}
