package dev.weft.console;

import dev.weft.Fiber;
import dev.weft.FiberDump;
import dev.weft.Weft;
import dev.weft.channel.Channel;
import dev.weft.channel.ChannelClosedException;
import dev.weft.http.WebSocket;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * One open page. The page asks by short texts; what it asked for last is sent again after each walk
 * of the collector.
 *
 * <pre>
 *   look overview | look fibers TEXT | look scopes      what is shown
 *   stack ID                                            a fiber with its stack, once
 *   pause | go                                          no messages; messages again
 * </pre>
 */
final class Viewer {
  private static final int MOST_FRAMES = 200;
  private static final int MOST_QUOTED = 20;
  private static final int MOST_STACKS = 8;

  private final WebSocket socket;
  private final Collector collector;

  // messages of the collector; a page that cannot keep up misses some
  private final Channel<String> messages = Channel.buffered(4);

  private String shown = "overview"; // guarded by this
  private boolean asks; // for what is shown, and was not sent yet; guarded by this
  private final List<Long> stacks = new ArrayList<>(); // asked for; guarded by this
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
      send(message);
    }
  }

  boolean isPaused() {
    return paused;
  }

  /** Returns whether the page waits for an answer of a walk. */
  synchronized boolean asks() {
    return asks || !stacks.isEmpty();
  }

  /** Returns what the page shows, for a walk, which answers what it asks. */
  synchronized String takeShown() {
    asks = false;
    return shown;
  }

  /** Returns the fibers of which the page wants the stacks, for a walk. */
  synchronized List<Long> takeStacks() {
    List<Long> taken = List.copyOf(stacks);
    stacks.clear();
    return taken;
  }

  /** Called with what the page shows, as a walk found it. */
  void offerShown(String message, boolean wasAsked) {
    if (!message.isEmpty() && (wasAsked || !paused) && !send(message) && wasAsked) {
      synchronized (this) {
        asks = true; // the page cannot keep up: again with the next walk
      }
    }
  }

  void offerStack(long id, Optional<FiberDump.Entry> found) {
    send(stackMessage(id, found));
  }

  /** Sends a message unless the page cannot keep up; to a page that has gone, to nobody. */
  private boolean send(String message) {
    try {
      return messages.trySend(message);
    } catch (ChannelClosedException e) {
      return true; // closed during the walk, which may run code of the user: toString()
    }
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
        boolean needsWalk = Shown.needsWalk(rest);
        synchronized (this) {
          shown = rest;
          asks = needsWalk;
        }
        if (needsWalk) {
          collector.lookFor(this);
        }
      }
      case "stack" -> askForStack(rest);
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

  /** Takes the stack of a fiber that was listed; of another one, a walk has to find it first. */
  private void askForStack(String text) throws IOException {
    long id;
    try {
      id = Long.parseLong(text);
    } catch (NumberFormatException e) {
      socket.close(1008, "the id of a fiber is a number");
      return;
    }
    Optional<FiberDump.Entry> known = collector.entryOfKnown(id);
    if (known.isPresent()) {
      socket.send(stackMessage(id, known));
    } else {
      synchronized (this) {
        if (stacks.size() < MOST_STACKS) {
          stacks.add(id);
        }
      }
      collector.lookFor(this);
    }
  }

  private static String stackMessage(long id, Optional<FiberDump.Entry> found) {
    Json json = new Json().object().field("type", "stack").field("id", "" + id);
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
    return json.endObject().toString();
  }
}
