package dev.weft;

import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A variable with a value for each coroutine, as a {@link ThreadLocal} has one for each thread.
 * Outside coroutines it is a thread local. A coroutine's values are dropped when its body ends.
 *
 * {@snippet class="dev.weft.CoroutineSnippetsTest" region="local"}
 */
public final class CoroutineLocal<T> {
  private final Supplier<? extends T> initial;

  // the value outside coroutines
  private final ThreadLocal<T> ofThread;

  private CoroutineLocal(Supplier<? extends T> initial) {
    this.initial = initial;
    this.ofThread = ThreadLocal.withInitial(this::initialValue);
  }

  /** Creates a variable; the first {@link #get} in each coroutine calls the supplier. */
  public static <T> CoroutineLocal<T> withInitial(Supplier<T> initial) {
    return new CoroutineLocal<>(Objects.requireNonNull(initial, "initial"));
  }

  /** Returns the current coroutine's value. */
  public T get() {
    Coroutine current = Coroutine.currentOrNull();
    if (current == null) {
      return ofThread.get();
    }
    @SuppressWarnings("unchecked") // only set() and this method put values under this key
    @Nullable T value = (T) current.locals().get(this);
    if (value == null) {
      value = initialValue();
      current.locals().put(this, value);
    }
    return value;
  }

  /** Sets the current coroutine's value. */
  public void set(T value) {
    Objects.requireNonNull(value, "value");
    Coroutine current = Coroutine.currentOrNull();
    if (current == null) {
      ofThread.set(value);
    } else {
      current.locals().put(this, value);
    }
  }

  private T initialValue() {
    return Objects.requireNonNull(initial.get(), "the initial value is null");
  }
}
