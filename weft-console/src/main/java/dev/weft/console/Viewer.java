package dev.weft.console;

import dev.weft.Fiber;
import dev.weft.FiberDump;
import dev.weft.Weft;
import dev.weft.channel.Channel;
import dev.weft.http.WebSocket;
import dev.weft.internal.sched.ScopeLooks;
import dev.weft.internal.watch.FiberLooks;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/**
 * One open page. The page asks by short texts; what it asked for last is sent again with each
 * message of the collector.
 *
 * <pre>
 *   look overview | look fibers TEXT | look scopes      what is shown
 *   stack ID                                            a fiber with its stack, once
 *   pause | go                                          no messages; messages again
 * </pre>
 */
final class Viewer {
  private static final int MOST_FOUND = 200;
  private static final int MOST_SCOPE_LINES = 500;
  private static final int MOST_FRAMES = 200;
  private static final int MOST_QUOTED = 20;

  private final WebSocket socket;
  private final Collector collector;

  // messages of the collector; a page that cannot keep up misses some
  private final Channel<String> messages = Channel.buffered(2);

  private volatile String shown = "overview";
  private volatile boolean paused;

  Viewer(WebSocket socket, Collector collector) {
    this.socket = socket;
    this.collector = collector;
  }

  /** Serves the page until it is closed. */
  void serve() throws IOException {
    if (!collector.add(this)) {
      socket.close(1013, "too many pages of this console are open");
      return;
    }
    Fiber<Void> sender = Weft.go(this::sendAll);
    try {
      for (var text = socket.receiveText(); text.isPresent(); text = socket.receiveText()) {
        answer(text.get());
      }
    } finally {
      collector.remove(this);
      messages.close();
      sender.cancel();
    }
  }

  /** Called by the collector, which never waits for a page. */
  void offer(String message) {
    if (!paused) {
      messages.trySend(message);
    }
  }

  boolean isPaused() {
    return paused;
  }

  /** Tells the page that the console ends. */
  void end() {
    socket.close(1001, "the console has ended");
  }

  private void sendAll() throws InterruptedException {
    try {
      for (var message = messages.receiveOrClosed();
          message.isPresent();
          message = messages.receiveOrClosed()) {
        socket.send(message.get());
        sendShown();
      }
    } catch (IOException e) {
      // the page is gone: its receive ends too
    }
  }

  private void answer(String asked) throws IOException {
    int space = asked.indexOf(' ');
    String word = space < 0 ? asked : asked.substring(0, space);
    String rest = space < 0 ? "" : asked.substring(space + 1);
    switch (word) {
      case "look" -> {
        shown = rest;
        sendShown();
      }
      case "stack" -> sendStack(rest);
      case "pause" -> {
        paused = true;
        collector.pauseOrGo();
      }
      case "go" -> {
        paused = false;
        collector.pauseOrGo();
      }
      default -> socket.close(1008, "the console does not know '" + shortened(word) + "'");
    }
  }

  /** The reason of a close takes 123 bytes at most. */
  private static String shortened(String word) {
    return word.length() <= MOST_QUOTED ? word : word.substring(0, MOST_QUOTED) + "…";
  }

  private void sendShown() throws IOException {
    String now = shown;
    if (now.equals("fibers") || now.startsWith("fibers ")) {
      sendFibers(now.substring("fibers".length()).strip());
    } else if (now.equals("scopes")) {
      sendScopes();
    }
  }

  private void sendFibers(String text) throws IOException {
    List<FiberLooks.Line> found = FiberLooks.find(text, MOST_FOUND);
    Json json = new Json().object().field("type", "fibers").field("text", text);
    json.field("more", found.size() == MOST_FOUND).key("fibers");
    Collector.lines(json, found);
    socket.send(json.endObject().toString());
  }

  private void sendScopes() throws IOException {
    long now = System.nanoTime();
    Json json = new Json().object().field("type", "scopes").key("lines").array();
    for (ScopeLooks.Line line : FiberLooks.scopes(MOST_SCOPE_LINES)) {
      json.object().field("depth", line.depth()).field("label", line.label());
      if (line.fiber() != null) {
        json.key("fiber");
        Collector.line(json, FiberLooks.line(line.fiber(), now));
      }
      json.endObject();
    }
    socket.send(json.endArray().endObject().toString());
  }

  private void sendStack(String id) throws IOException {
    Optional<FiberDump.Entry> found;
    try {
      found = FiberLooks.entry(Long.parseLong(id));
    } catch (NumberFormatException e) {
      socket.close(1008, "the id of a fiber is a number");
      return;
    }
    Json json = new Json().object().field("type", "stack").field("id", id);
    json.field("found", found.isPresent());
    if (found.isPresent()) {
      FiberDump.Entry entry = found.get();
      json.field("name", entry.name())
          .field("summary", entry.summary())
          .field("heldBy", entry.heldBy())
          .key("stack")
          .array();
      entry.stack().stream().limit(MOST_FRAMES).forEach(frame -> json.value(frame.toString()));
      json.endArray();
    }
    socket.send(json.endObject().toString());
  }
}
