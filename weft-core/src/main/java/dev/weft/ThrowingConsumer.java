package dev.weft;

/** A {@link java.util.function.Consumer} that may throw. */
@FunctionalInterface
public interface ThrowingConsumer<T> {
  /** Takes the value. */
  void accept(T value) throws Exception;
}
