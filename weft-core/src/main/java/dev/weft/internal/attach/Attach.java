package dev.weft.internal.attach;

import dev.weft.internal.Log;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Lets other processes of the same user look into this one: {@code ./weft dump}, {@code top} and
 * {@code leaks}.
 *
 * <pre>
 *   the process that asks                      this process
 *     makes /tmp/.weft_pidN, mode 0700 ──────► the watchdog sees the folder, every 100 ms
 *     connects to the socket in it ◄────────── a platform thread checks the owner, makes the socket
 *     a request, a line ─────────────────────► a platform thread for each connection: Answers
 *                       ◄───────────────────── chunks; see {@link Connection}
 *     closes the connection                    half a second after the last one: all deleted
 * </pre>
 *
 * <p>So a process into which no other looks has no thread, no socket and no file for this, and pays
 * ten system calls a second. Workers have no part in it: it works while all of them are held.
 *
 * <p>Considered and refused: an agent, since any agent makes switches of virtual threads nearly
 * twice as expensive for the rest of the process; beans over JMX, which need {@code
 * java.management} and 50 ms at each start; a socket that is made at the start, which every short
 * program would pay for, and leave behind when it is killed. See decision 0093.
 */
public final class Attach {
  private static final long LOOK_NANOS = 100_000_000;
  private static final long LINGER_NANOS = 500_000_000;
  private static final long REFUSED_NANOS = 1_000_000_000;
  private static final int MOST_CONNECTIONS = 8;

  private static final boolean OFF = "off".equals(System.getProperty("weft.attach"));
  private static final AttachFolder FOLDER = AttachFolder.ofThisProcess();

  // when the watchdog's thread looks next, and whether a thread serves
  private static volatile long nextLook = System.nanoTime();
  private static volatile boolean serving;

  // why the last request was refused; by the thread that serves
  private static String refusal = "";

  private Attach() {}

  /** Called by the watchdog at each of its looks: starts to serve if another process asks. */
  public static void look() {
    look(FOLDER);
  }

  static void look(AttachFolder folder) {
    long now = System.nanoTime();
    if (OFF || serving || now - nextLook < 0) {
      return;
    }
    nextLook = now + LOOK_NANOS;
    if (folder.isThere()) {
      serving = true;
      try {
        daemon("weft-attach", () -> serve(folder));
      } catch (OutOfMemoryError e) { // no thread can be started now
        serving = false;
        nextLook = now + REFUSED_NANOS;
        throw e;
      }
    }
  }

  private static void daemon(String name, Runnable body) {
    Thread.ofPlatform().daemon().name(name).inheritInheritableThreadLocals(false).start(body);
  }

  /** Answers until no process has been connected for a while. */
  private static void serve(AttachFolder folder) {
    try {
      if (isAllowed(folder)) {
        serveIn(folder);
      }
    } catch (OutOfMemoryError e) { // the process that asks may wait until there is memory again
      nextLook = System.nanoTime() + REFUSED_NANOS;
    } finally {
      serving = false;
    }
  }

  private static boolean isAllowed(AttachFolder folder) {
    try {
      folder.check();
      return true;
    } catch (IOException | RuntimeException e) {
      refuse("a request to look into this process is refused: " + e.getMessage());
      return false;
    }
  }

  private static void serveIn(AttachFolder folder) {
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        Selector selector = Selector.open()) {
      Files.deleteIfExists(folder.socket());
      server.bind(UnixDomainSocketAddress.of(folder.socket()));
      server.configureBlocking(false);
      server.register(selector, SelectionKey.OP_ACCEPT);
      acceptAll(server, selector);
    } catch (IOException | RuntimeException e) {
      String text = "cannot let other processes look into this one: " + e;
      Log.later(() -> Log.logger().log(Level.WARNING, text));
    } finally {
      refusal = "";
      folder.delete();
    }
  }

  /** Logs a refusal, unless it is that of a moment ago: the folder may stay for long. */
  private static void refuse(String why) {
    if (!why.equals(refusal)) {
      refusal = why;
      Log.later(() -> Log.logger().log(Level.WARNING, why));
    }
    nextLook = System.nanoTime() + REFUSED_NANOS;
  }

  private static void acceptAll(ServerSocketChannel server, Selector selector) throws IOException {
    AtomicInteger open = new AtomicInteger();
    long lastUse = System.nanoTime();
    while (open.get() > 0 || System.nanoTime() - lastUse < LINGER_NANOS) {
      selector.select(LINGER_NANOS / 4_000_000);
      selector.selectedKeys().clear();
      SocketChannel client = server.accept();
      if (client != null && open.get() < MOST_CONNECTIONS) {
        open.incrementAndGet();
        try {
          daemon(
              "weft-attach-connection",
              () -> {
                try {
                  new Connection(client).serve();
                } finally {
                  open.decrementAndGet();
                }
              });
        } catch (OutOfMemoryError e) { // no thread can be started now
          open.decrementAndGet();
          client.close();
        }
      } else if (client != null) {
        client.close();
      }
      if (open.get() > 0) {
        lastUse = System.nanoTime();
      }
    }
  }
}
