package dev.weft.sim.bugs;

import java.util.concurrent.ThreadFactory;

/**
 * Threads that work on one shared object at the same time.
 *
 * <p>The threads reach the shared object through a field and not through a lambda: Lincheck does
 * not see what a lambda captures and would take the object for one that a single thread uses.
 */
public final class Together {
  /** The system property that makes all programs use plain threads. */
  static final String PLAIN_THREADS = "weft.bugs.plainThreads";

  private static final ThreadFactory FACTORY =
      Boolean.getBoolean(PLAIN_THREADS) ? new PlainThreads() : Thread.ofVirtual().factory();

  private Together() {}

  /**
   * What one thread does.
   *
   * @param <S> the type of the shared object
   */
  @FunctionalInterface
  public interface Action<S> {
    /** Works on the shared object. */
    void run(S shared) throws Exception;
  }

  /** Starts a thread for each action, waits for all of them and throws the first failure. */
  @SafeVarargs
  public static <S> void run(S shared, Action<? super S>... actions) throws Exception {
    Worker<?>[] workers = new Worker<?>[actions.length];
    Thread[] threads = new Thread[actions.length];
    for (int i = 0; i < actions.length; i++) {
      workers[i] = new Worker<S>(shared, actions[i]);
      threads[i] = FACTORY.newThread(workers[i]);
      threads[i].start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    for (Worker<?> worker : workers) {
      worker.rethrow();
    }
  }

  /** Returns the factory of the threads: virtual ones, unless a tool can run only others. */
  public static ThreadFactory factory() {
    return FACTORY;
  }

  /**
   * Makes threads whose bodies Lincheck sees: neither a lambda nor a field of the JDK hides them.
   */
  private static final class PlainThreads implements ThreadFactory {
    @Override
    public Thread newThread(Runnable body) {
      return new PlainThread(body);
    }
  }

  private static final class PlainThread extends Thread {
    private final Runnable body;

    PlainThread(Runnable body) {
      this.body = body;
    }

    @Override
    public void run() {
      body.run();
    }
  }

  private static final class Worker<S> implements Runnable {
    private final S shared;
    private final Action<? super S> action;
    private Throwable failure;

    Worker(S shared, Action<? super S> action) {
      this.shared = shared;
      this.action = action;
    }

    @Override
    public void run() {
      try {
        action.run(shared);
      } catch (Throwable e) {
        failure = e;
      }
    }

    void rethrow() throws Exception {
      switch (failure) {
        case null -> {}
        case Exception e -> throw e;
        case Error e -> throw e;
        default -> throw new AssertionError(failure);
      }
    }
  }
}
