package dev.weft.internal.sched;

import dev.weft.Fiber;
import dev.weft.Scope;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** The joiners of {@link Scope.Joiner}. A scope calls a joiner by one thread at a time. */
public final class Joiners {
  private Joiners() {}

  /** The failures of a scope; one exception carries them all, the later ones as suppressed. */
  private static final class Failures {
    private final List<Throwable> all = new ArrayList<>();

    void add(Throwable failure) {
      all.add(failure);
    }

    void throwIfAny() {
      if (!all.isEmpty()) {
        Throwable first = all.getFirst();
        CompletionException e = new CompletionException(first);
        all.stream().skip(1).filter(other -> other != first).forEach(e::addSuppressed);
        throw e;
      }
    }
  }

  public static final class AwaitAllSuccessful implements Scope.Joiner<Void> {
    private final Failures failures = new Failures();

    @Override
    public boolean onComplete(Fiber<?> fiber) {
      Throwable failure = ((FiberEnd<?>) fiber).failure();
      if (failure != null) {
        failures.add(failure);
      }
      return failure != null;
    }

    @Override
    public Void result() {
      failures.throwIfAny();
      return null;
    }
  }

  public static final class AllSuccessful<T> implements Scope.Joiner<List<T>> {
    private final AwaitAllSuccessful ends = new AwaitAllSuccessful();
    private final List<Fiber<?>> fibers = new ArrayList<>();

    @Override
    public boolean onGo(Fiber<?> fiber) {
      fibers.add(fiber);
      return false;
    }

    @Override
    public boolean onComplete(Fiber<?> fiber) {
      return ends.onComplete(fiber) || fiber.isCancelled();
    }

    @Override
    @SuppressWarnings("unchecked") // its type says what the fibers of its scope return
    public List<T> result() {
      ends.result();
      List<T> results = new ArrayList<>();
      for (Fiber<?> fiber : fibers) {
        results.add((T) resultOf(fiber));
      }
      return results;
    }
  }

  public static final class AnySuccessful<T> implements Scope.Joiner<T> {
    private final Failures failures = new Failures();
    private @Nullable Fiber<?> first;

    @Override
    public boolean onComplete(Fiber<?> fiber) {
      Throwable failure = ((FiberEnd<?>) fiber).failure();
      if (failure != null) {
        failures.add(failure);
      } else if (first == null && !fiber.isCancelled()) {
        first = fiber;
      }
      return first != null;
    }

    @Override
    @SuppressWarnings("unchecked") // its type says what the fibers of its scope return
    public T result() {
      if (first != null) {
        return (T) resultOf(first);
      }
      failures.throwIfAny();
      throw new CancellationException("no fiber of the scope succeeded: none ran to its end");
    }
  }

  public static final class AwaitAll implements Scope.Joiner<List<Fiber<?>>> {
    private final List<Fiber<?>> fibers = new ArrayList<>();

    @Override
    public boolean onGo(Fiber<?> fiber) {
      fibers.add(fiber);
      return false;
    }

    @Override
    public List<Fiber<?>> result() {
      return List.copyOf(fibers);
    }
  }

  private static Object resultOf(Fiber<?> fiber) {
    try {
      return fiber.join();
    } catch (InterruptedException e) {
      throw new IllegalStateException("a fiber that has ended is not waited for", e);
    }
  }
}
