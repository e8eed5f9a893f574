package dev.weft.internal.switching;

import static java.lang.invoke.MethodType.methodType;

import dev.weft.internal.Unchecked;
import dev.weft.internal.jdk.Inside;
import java.lang.StackWalker.StackFrame;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.List;
import jdk.internal.vm.Continuation;
import org.jspecify.annotations.Nullable;

/**
 * The stack of an unmounted virtual thread, cheap to compare: the method and the bytecode index of
 * each frame. {@code Thread.getStackTrace} looks up the names and the line of each frame, which is
 * most of its cost; of a million threads nearly all have a stack that was seen before.
 *
 * <p>The JVM keeps one object for each method that a stack walk meets ({@code
 * java.lang.invoke.ResolvedMethodName}), as long as the object is reachable. So two frames have the
 * same method if they have the same object, while one of the shapes is kept.
 */
public final class StackShape {
  /** How many frames count, from the innermost on. */
  private static final int DEEPEST = 200;

  private static final @Nullable MethodHandle METHOD = method();
  private static final @Nullable VarHandle CONTINUATION = continuation();

  private final StackFrame[] frames;
  private final Object[] methods;
  private final int hash;

  private StackShape(StackFrame[] frames) {
    this.frames = frames;
    this.methods = new Object[frames.length];
    int sum = 1;
    for (int i = 0; i < frames.length; i++) {
      methods[i] = methodOf(frames[i]);
      sum = 31 * sum + System.identityHashCode(methods[i]) + frames[i].getByteCodeIndex();
    }
    this.hash = sum;
  }

  /** Returns the shape, or null if the thread is mounted, or if this JDK has other stack frames. */
  public static @Nullable StackShape ofOrNull(Thread virtual) {
    return METHOD == null || CONTINUATION == null
        ? null
        : UnmountedThread.holdStill(virtual, StackShape::walk);
  }

  private static @Nullable StackShape walk(Thread virtual) {
    Continuation continuation = (Continuation) CONTINUATION.get(virtual);
    return continuation
        .stackWalker()
        .walk(frames -> new StackShape(frames.limit(DEEPEST).toArray(StackFrame[]::new)));
  }

  /** Returns the frames as {@code Thread.getStackTrace} returns them. */
  public List<StackTraceElement> frames() {
    return Arrays.stream(frames).map(StackFrame::toStackTraceElement).toList();
  }

  @Override
  public boolean equals(@Nullable Object other) {
    if (!(other instanceof StackShape shape)
        || shape.hash != hash
        || shape.methods.length != methods.length) {
      return false;
    }
    for (int i = 0; i < methods.length; i++) {
      if (shape.methods[i] != methods[i]
          || shape.frames[i].getByteCodeIndex() != frames[i].getByteCodeIndex()) {
        return false;
      }
    }
    return true;
  }

  @Override
  public int hashCode() {
    return hash;
  }

  private static Object methodOf(StackFrame frame) {
    try {
      return (Object) METHOD.invokeExact(frame);
    } catch (Throwable e) {
      throw Unchecked.rethrow(e);
    }
  }

  private static @Nullable MethodHandle method() {
    try {
      Class<?> frame = Class.forName("java.lang.ClassFrameInfo");
      return Inside.of(frame)
          .findGetter(frame, "classOrMemberName", Object.class)
          .asType(methodType(Object.class, StackFrame.class));
    } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
      return null;
    }
  }

  private static @Nullable VarHandle continuation() {
    try {
      MethodHandles.lookup().ensureInitialized(UnmountedThread.class);
      Class<?> thread = Class.forName("java.lang.VirtualThread");
      return Inside.of(thread).findVarHandle(thread, "cont", Continuation.class);
    } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
      return null;
    }
  }
}
