package dev.weft;

/** A block of code to run, as a coroutine or fiber body: a {@link Runnable} that may throw. */
@FunctionalInterface
public interface Body {
  /** Runs the code. */
  void run() throws Exception;
}
