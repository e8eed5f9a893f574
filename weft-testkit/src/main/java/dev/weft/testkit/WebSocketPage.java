package dev.weft.testkit;

import java.net.http.WebSocket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** A page at a WebSocket, as far as the server can tell: keeps the messages that it is sent. */
public final class WebSocketPage implements WebSocket.Listener {
  private final LinkedBlockingQueue<String> messages = new LinkedBlockingQueue<>();
  private final CompletableFuture<String> closed = new CompletableFuture<>();
  private final StringBuilder part = new StringBuilder();

  @Override
  public CompletionStage<?> onText(WebSocket socket, CharSequence text, boolean last) {
    part.append(text);
    if (last) {
      messages.add(part.toString());
      part.setLength(0);
    }
    socket.request(1);
    return null;
  }

  @Override
  public CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
    closed.complete(code + " " + reason);
    return null;
  }

  /** Completes with the code and the reason when the server closes the connection. */
  public CompletableFuture<String> closed() {
    return closed;
  }

  /** Forgets the messages that have come. */
  public void clear() {
    messages.clear();
  }

  /** Returns the next message that fits; those before it are dropped. */
  public String await(int seconds, Predicate<String> wanted) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    while (true) {
      String message = messages.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
      if (message == null) {
        throw new AssertionError("no message that fits in " + seconds + " s");
      }
      if (wanted.test(message)) {
        return message;
      }
    }
  }

  /** Returns the next message that has all the parts, within ten seconds. */
  public String await(String... parts) throws InterruptedException {
    return await(10, message -> hasAll(message, parts));
  }

  private static boolean hasAll(String message, String... parts) {
    for (String part : parts) {
      if (!message.contains(part)) {
        return false;
      }
    }
    return true;
  }
}
