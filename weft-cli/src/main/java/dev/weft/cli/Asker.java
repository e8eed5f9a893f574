package dev.weft.cli;

import java.io.IOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A thread that asks a process, one question at a time, so that the thread of a screen never waits:
 * a process that is stopped or swaps does not answer, and the keys have to work meanwhile.
 */
final class Asker implements AutoCloseable {
  private final Attached process;
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform().daemon().name("weft-top-asker").factory());

  private @Nullable Question open;

  /** A question to which the answer has not been handed over. */
  private record Question(Future<String> answer, Consumer<String> user, long askedAt) {}

  Asker(Attached process) {
    this.process = process;
  }

  /** Asks, if no question is open; returns whether it did. */
  boolean ask(String request, Consumer<String> user) {
    if (open != null) {
      return false;
    }
    open = new Question(thread.submit(() -> process.ask(request)), user, System.nanoTime());
    return true;
  }

  /** Hands over the answer, if it has come: on this thread. */
  void poll() throws IOException {
    Question question = open;
    if (question == null || !question.answer.isDone()) {
      return;
    }
    open = null;
    try {
      question.user.accept(question.answer.get());
    } catch (ExecutionException e) {
      switch (e.getCause()) {
        case UserMistake mistake -> throw mistake;
        case IOException failure -> throw failure;
        default -> throw new IllegalStateException(e);
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e); // a future that is done does not wait
    }
  }

  boolean isAsking() {
    return open != null;
  }

  /** Returns for how long the process has not answered; 0 if it has. */
  long silentNanos() {
    return open == null ? 0 : System.nanoTime() - open.askedAt;
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }
}
