package dev.weft;

import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * A lazy sequence, written as straight code that emits its elements one after the other. The body
 * runs in a {@link Coroutine}, only as far as elements are asked for, so it may be endless.
 *
 * {@snippet class="dev.weft.CoroutineSnippetsTest" region="generator"}
 *
 * <p>It can be walked once. Close it, or its stream, to leave early: the body's {@code finally}
 * blocks run then. What the body throws comes out of {@link #hasNext} and {@link #next}, checked
 * exceptions as the cause of a {@link java.util.concurrent.CompletionException}.
 */
@SuppressWarnings(
    "IterableAndIterator") // walked once, as a stream is; the shape is fixed by the API
public final class Generator<T> implements Iterator<T>, Iterable<T>, AutoCloseable {
  /** Takes the elements from a generator's body. */
  @FunctionalInterface
  public interface Emitter<T> {
    /**
     * Emits the next element; returns when the consumer asks for the element after it.
     *
     * @throws IllegalStateException if called outside the generator's own body
     */
    void emit(T value);
  }

  private final Coroutine coroutine;

  // emitted and not yet taken by next()
  private @Nullable T element;

  private Generator(ThrowingConsumer<Emitter<T>> body) {
    coroutine = Coroutine.of(() -> body.accept(this::emit));
  }

  /** Creates a generator of the elements that the body emits; the body starts at the first use. */
  public static <T> Generator<T> of(ThrowingConsumer<Emitter<T>> body) {
    return new Generator<>(Objects.requireNonNull(body, "body"));
  }

  @Override
  public boolean hasNext() {
    while (element == null && coroutine.state() != Coroutine.State.TERMINATED) {
      coroutine.resume(); // in a loop, because the body may call Coroutine.yield itself
    }
    return element != null;
  }

  @Override
  public T next() {
    if (!hasNext()) {
      throw new NoSuchElementException("the generator has ended");
    }
    T taken = Objects.requireNonNull(element);
    element = null;
    return taken;
  }

  /** Returns this generator: it can be walked once. */
  @Override
  public Iterator<T> iterator() {
    return this;
  }

  /** Returns the remaining elements as a sequential stream; closing it closes the generator. */
  public Stream<T> stream() {
    int traits = Spliterator.ORDERED | Spliterator.NONNULL;
    return StreamSupport.stream(Spliterators.spliteratorUnknownSize(this, traits), false)
        .onClose(this::close);
  }

  /** Ends the sequence; a started body is unwound as by {@link Coroutine#close}. */
  @Override
  public void close() {
    try {
      coroutine.close();
    } finally {
      element = null; // also an element that a finally block has emitted
    }
  }

  private void emit(T value) {
    Objects.requireNonNull(value, "value");
    if (Coroutine.currentOrNull() != coroutine) {
      throw new IllegalStateException(
          "cannot emit: emit belongs to the generator's own body, not to a coroutine or thread inside or outside it");
    }
    element = value;
    Coroutine.yield();
  }
}
