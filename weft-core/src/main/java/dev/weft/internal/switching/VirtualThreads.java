package dev.weft.internal.switching;

import dev.weft.internal.Unchecked;
import dev.weft.internal.jdk.PrivateField;
import dev.weft.internal.jdk.RequiredFlags;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Field;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import java.util.stream.Stream;
import jdk.internal.vm.ThreadContainer;
import jdk.internal.vm.ThreadContainers;
import org.jspecify.annotations.Nullable;

/**
 * The JDK's virtual threads as Weft uses them: with an executor and a thread container of Weft's.
 * {@link Mounting} runs, parks and unparks them.
 */
public final class VirtualThreads {
  private static final MethodHandle NEW;
  private static final MethodHandle START;
  private static final MethodHandle EXECUTOR;
  private static final MethodHandle SET_EXECUTOR;
  private static final VarHandle INHERITABLE_LOCALS;
  private static final VarHandle CONTEXT_LOADER;

  /** As in java.lang.Thread. */
  private static final int NO_INHERIT_THREAD_LOCALS = 1 << 2;

  private static final ClassLoader SYSTEM_LOADER = ClassLoader.getSystemClassLoader();

  static {
    RequiredFlags.check();
    try {
      Class<?> type = Class.forName("java.lang.VirtualThread");
      MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(type, MethodHandles.lookup());
      NEW =
          lookup
              .findConstructor(
                  type,
                  MethodType.methodType(
                      void.class, Executor.class, String.class, int.class, Runnable.class))
              .asType(
                  MethodType.methodType(
                      Thread.class, Executor.class, String.class, int.class, Runnable.class));
      START =
          lookup.findVirtual(
              Thread.class, "start", MethodType.methodType(void.class, ThreadContainer.class));
      EXECUTOR =
          lookup
              .findGetter(type, "scheduler", Executor.class)
              .asType(MethodType.methodType(Executor.class, Thread.class));
      SET_EXECUTOR = // of a final field
          lookup
              .unreflectSetter(PrivateField.of(type, "scheduler"))
              .asType(MethodType.methodType(void.class, Thread.class, Executor.class));
      MethodHandles.Lookup inThread =
          MethodHandles.privateLookupIn(Thread.class, MethodHandles.lookup());
      INHERITABLE_LOCALS =
          inThread.findVarHandle(
              Thread.class,
              "inheritableThreadLocals",
              Class.forName("java.lang.ThreadLocal$ThreadLocalMap"));
      CONTEXT_LOADER =
          inThread.findVarHandle(Thread.class, "contextClassLoader", ClassLoader.class);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(
          "this JDK (" + Runtime.version() + ") has other virtual threads: use JDK 25", e);
    }
  }

  private VirtualThreads() {}

  /**
   * Creates a virtual thread; the JDK hands each of its slices to the executor. The thread inherits
   * from the current one, as a new thread does, or nothing.
   */
  public static Thread create(
      Executor executor, @Nullable String name, boolean inherits, Runnable body) {
    try {
      int characteristics = inherits ? 0 : NO_INHERIT_THREAD_LOCALS;
      return (Thread) NEW.invokeExact(executor, name, characteristics, body);
    } catch (Throwable e) {
      throw Unchecked.rethrow(e);
    }
  }

  /** Returns a virtual thread that has ended: its executor refused it when it was started. */
  public static Thread ended(@Nullable String name) {
    Thread thread =
        create(
            slice -> {
              throw new Refusal();
            },
            name,
            false,
            () -> {});
    try {
      thread.start();
    } catch (Refusal e) {
      // the JDK sets its state to TERMINATED
    }
    return thread;
  }

  /** Not a {@code RejectedExecutionException}: the JDK records those as a Flight Recorder event. */
  private static final class Refusal extends RuntimeException {
    private static final long serialVersionUID = 1;

    Refusal() {
      super("this thread is not to run", null, false, false);
    }
  }

  /**
   * Returns whether a new thread would inherit something from the current one: inheritable thread
   * locals, or another context class loader than the system's.
   */
  public static boolean inheritsFrom(Thread current) {
    Object locals = inheritableLocals(current);
    return (locals != null && !ChildrenOfMain.isAllOf(locals))
        || CONTEXT_LOADER.get(current) != SYSTEM_LOADER;
  }

  static @Nullable Object inheritableLocals(Thread thread) {
    return INHERITABLE_LOCALS.get(thread);
  }

  /** Starts a thread in the container; its executor gets the first slice. */
  public static void start(Thread thread, Container container) {
    try {
      START.invokeExact(thread, (ThreadContainer) container);
    } catch (Throwable e) {
      throw Unchecked.rethrow(e);
    }
  }

  /** Returns the executor of a virtual thread. */
  public static Executor executorOf(Thread virtual) {
    try {
      return (Executor) EXECUTOR.invokeExact(virtual);
    } catch (Throwable e) {
      throw Unchecked.rethrow(e);
    }
  }

  /** Replaces the executor of a virtual thread, which gets the slices after the first. */
  public static void setExecutor(Thread virtual, Executor executor) {
    try {
      SET_EXECUTOR.invokeExact(virtual, executor);
    } catch (Throwable e) {
      throw Unchecked.rethrow(e);
    }
  }

  /** Returns the virtual thread that a slice belongs to. */
  public static Thread threadOf(Runnable slice) {
    try {
      return slice.getClass() == SliceOwner.TYPE
          ? (Thread) SliceOwner.THREAD.invokeExact(slice)
          : (Thread) SliceOwner.OTHERS.get(slice.getClass()).invokeExact(slice);
    } catch (Throwable e) {
      throw Unchecked.rethrow(e);
    }
  }

  /**
   * The field by which a slice names its thread: the JDK hands executors a method reference that
   * captures the thread, an object of the same class for all threads. Of another class, though, for
   * threads that are made after an agent has rewritten VirtualThread: the JVM then links the method
   * reference anew.
   */
  private static final class SliceOwner {
    static final Class<?> TYPE;
    static final MethodHandle THREAD;

    static final ClassValue<MethodHandle> OTHERS =
        new ClassValue<>() {
          @Override
          protected MethodHandle computeValue(Class<?> type) {
            try {
              return getter(type);
            } catch (ReflectiveOperationException e) {
              throw new IllegalStateException("cannot find the thread of a " + type, e);
            }
          }
        };

    static {
      try {
        Class<?> type = Class.forName("java.lang.VirtualThread");
        Object sample =
            PrivateField.of(type, "runContinuation").get(create(r -> {}, null, false, () -> {}));
        TYPE = sample.getClass();
        THREAD = getter(TYPE);
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException("cannot find the thread of a slice: use JDK 25", e);
      }
    }

    private static MethodHandle getter(Class<?> slice) throws ReflectiveOperationException {
      for (Field field : slice.getDeclaredFields()) {
        if (Thread.class.isAssignableFrom(field.getType())) {
          field.setAccessible(true);
          return MethodHandles.lookup()
              .unreflectGetter(field)
              .asType(MethodType.methodType(Thread.class, Runnable.class));
        }
      }
      throw new NoSuchFieldException(
          "this JDK (" + Runtime.version() + ") runs virtual threads by " + slice);
    }
  }

  /**
   * A thread container: the heading under which the JDK's thread dumps show fibers. The JDK's root
   * container keeps each thread in a concurrent set; this one lists them when a dump is taken.
   */
  public static final class Container extends ThreadContainer {
    private final String name;
    private final Supplier<Stream<Thread>> threads;
    private final Object key;

    public Container(String name, Supplier<Stream<Thread>> threads) {
      super(true);
      this.name = name;
      this.threads = threads;
      this.key = ThreadContainers.registerContainer(this);
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public Stream<Thread> threads() {
      return threads.get();
    }

    /** Takes the container out of thread dumps. */
    public void deregister() {
      ThreadContainers.deregisterContainer(key);
    }
  }
}
