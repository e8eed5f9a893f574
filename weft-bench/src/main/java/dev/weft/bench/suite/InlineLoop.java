package dev.weft.bench.suite;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayDeque;
import java.util.concurrent.Executor;

/**
 * Virtual threads on the calling thread and nothing around them: no policy, no timers, no other
 * threads. The lower limit for the cost of a scheduler of virtual threads.
 */
final class InlineLoop implements Executor {
  private static final MethodHandle NEW;

  static {
    try {
      Class<?> type = Class.forName("java.lang.VirtualThread");
      MethodType parameters =
          MethodType.methodType(
              void.class, Executor.class, String.class, int.class, Runnable.class);
      NEW =
          MethodHandles.privateLookupIn(type, MethodHandles.lookup())
              .findConstructor(type, parameters)
              .asType(parameters.changeReturnType(Thread.class));
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final ArrayDeque<Runnable> ready = new ArrayDeque<>();

  /** Starts a virtual thread; it runs inside {@link #run}. */
  Thread start(Runnable body) {
    try {
      Thread thread = (Thread) NEW.invokeExact((Executor) this, (String) null, 0, body);
      thread.start();
      return thread;
    } catch (Throwable e) {
      throw new IllegalStateException("cannot create a virtual thread", e);
    }
  }

  /** Runs until no thread is ready. */
  void run() {
    for (Runnable slice = ready.poll(); slice != null; slice = ready.poll()) {
      slice.run();
    }
  }

  @Override
  public void execute(Runnable slice) {
    ready.add(slice);
  }
}
