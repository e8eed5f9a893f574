package dev.weft.internal.switching;

import dev.weft.internal.jdk.PrivateField;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Field;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Gives the platform threads that a program's main() creates the daemon status and the thread group
 * that they have under {@code java}. A new thread inherits both; from a main() that runs on a
 * virtual thread it would inherit true, and {@code new Thread(server).start()} at the end of main()
 * would not keep the process alive, and the group of virtual threads, which lists no threads.
 *
 * <p>The one callback of the JDK during the construction of a thread is {@link
 * InheritableThreadLocal#childValue}. There the new thread is on the stack, its status is set, and
 * the program does not have it yet: a later setDaemon() of the program still counts.
 */
public final class ChildrenOfMain {
  /** How deep the constructor of Thread that sets the status is below childValue, at most. */
  private static final int DEPTH = 8;

  /** The one thread of the JDK that inherits its status and no thread locals. */
  private static final String HTTP_SERVER = "HTTP-Dispatcher";

  private static final InheritableThreadLocal<Boolean> IS_MAIN =
      new InheritableThreadLocal<>() {
        @Override
        protected @Nullable Boolean childValue(@Nullable Boolean parentIsMain) {
          if (parentIsMain != null) {
            Thread child = PlatformChild.find();
            if (child != null) {
              child.setDaemon(false);
              MainGroup.adopt(child);
            }
          }
          return null;
        }
      };

  // the map of main's inheritable thread locals, which IS_MAIN has made
  private static volatile @Nullable Object localsOfMain;

  // the group of the thread that main() would run on
  private static volatile @Nullable ThreadGroup groupOfMain;

  private ChildrenOfMain() {}

  /**
   * Called in main's thread before it runs the program.
   *
   * @param group the group of the main thread
   */
  public static void begin(@Nullable ThreadGroup group) {
    groupOfMain = group;
    IS_MAIN.set(true);
    localsOfMain = VirtualThreads.inheritableLocals(Thread.currentThread());
  }

  /** Returns whether these inheritable thread locals are main's and hold IS_MAIN only. */
  static boolean isAllOf(Object inheritableLocals) {
    return inheritableLocals == localsOfMain && (int) Size.OF_MAP.get(inheritableLocals) == 1;
  }

  /** Returns the threads that keep a program alive under java, but are daemons here. */
  public static List<Thread> overlooked() {
    return LiveThreads.ofPlatform()
        .filter(thread -> thread.isDaemon() && thread.getName().equals(HTTP_SERVER))
        .toList();
  }

  /** The thread group main, which main() would be in on the main thread. */
  private static final class MainGroup {
    private static final @Nullable Field HOLDER;
    private static final @Nullable Field GROUP;

    static {
      Field holder = null;
      Field group = null;
      try {
        holder = PrivateField.of(Thread.class, "holder");
        group = PrivateField.of(Class.forName("java.lang.Thread$FieldHolder"), "group");
      } catch (ReflectiveOperationException | RuntimeException e) {
        // the threads stay in the group of virtual threads
      }
      HOLDER = holder;
      GROUP = group;
    }

    private MainGroup() {}

    /** Puts a thread that inherited the group of virtual threads into the group main. */
    static void adopt(Thread child) {
      ThreadGroup group = groupOfMain;
      if (HOLDER != null
          && GROUP != null
          && group != null
          && child.getThreadGroup() == Thread.currentThread().getThreadGroup()) {
        try {
          GROUP.set(HOLDER.get(child), group);
        } catch (IllegalAccessException e) {
          throw new IllegalStateException("it was accessible before", e);
        }
      }
    }
  }

  /** The size of a map of thread locals. */
  private static final class Size {
    static final VarHandle OF_MAP;

    static {
      try {
        Class<?> map = Class.forName("java.lang.ThreadLocal$ThreadLocalMap");
        OF_MAP =
            MethodHandles.privateLookupIn(map, MethodHandles.lookup())
                .findVarHandle(map, "size", int.class);
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(
            "this JDK (" + Runtime.version() + ") has other thread locals: use JDK 25", e);
      }
    }
  }

  /** Looks for the platform thread that is being made on this stack. */
  private static final class PlatformChild {
    /** The cheap first look: most new threads are virtual. */
    private static final StackWalker CLASSES =
        StackWalker.getInstance(
            Set.of(StackWalker.Option.RETAIN_CLASS_REFERENCE, StackWalker.Option.DROP_METHOD_INFO),
            DEPTH);

    private static final StackWalker LIVE;
    private static final MethodHandle LOCALS;
    private static final Class<?> VIRTUAL;

    static {
      try {
        VIRTUAL = Class.forName("java.lang.BaseVirtualThread");
        Class<?> frame = Class.forName("java.lang.LiveStackFrame");
        MethodHandles.Lookup lookup =
            MethodHandles.privateLookupIn(Thread.class, MethodHandles.lookup());
        LIVE =
            (StackWalker)
                lookup
                    .findStatic(frame, "getStackWalker", MethodType.methodType(StackWalker.class))
                    .invoke();
        LOCALS =
            lookup
                .findVirtual(frame, "getLocals", MethodType.methodType(Object[].class))
                .asType(MethodType.methodType(Object[].class, StackWalker.StackFrame.class));
      } catch (Throwable e) {
        throw new IllegalStateException(
            "this JDK (" + Runtime.version() + ") has no live stack frames: use JDK 25", e);
      }
    }

    static @Nullable Thread find() {
      boolean virtual =
          CLASSES.walk(
              frames ->
                  frames.limit(DEPTH).anyMatch(frame -> frame.getDeclaringClass() == VIRTUAL));
      return virtual
          ? null
          : LIVE.walk(
              frames ->
                  frames
                      .limit(DEPTH)
                      .map(PlatformChild::madeIn)
                      .filter(Objects::nonNull)
                      .findFirst()
                      .orElse(null));
    }

    private static @Nullable Thread madeIn(StackWalker.StackFrame frame) {
      if (!frame.getClassName().equals("java.lang.Thread")
          || !frame.getMethodName().equals("<init>")) {
        return null;
      }
      try {
        Object[] locals = (Object[]) LOCALS.invokeExact(frame);
        return (Thread) locals[0];
      } catch (Throwable e) {
        throw new IllegalStateException("cannot read the locals of " + frame, e);
      }
    }
  }
}
