package dev.weft.bench.echo;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** An open page of the console and a running {@code ./weft top}, as far as the server can tell. */
final class Watchers implements AutoCloseable {
  private static final long PERIOD_MILLIS = 1_000;
  private static final long PATIENCE_NANOS = 10_000_000_000L;
  private static final int ROWS = 50;

  private final HttpClient client = HttpClient.newHttpClient();
  private final AtomicInteger ticks = new AtomicInteger();
  private final AtomicInteger pages = new AtomicInteger();
  private final SocketChannel socket;

  /** Begins to look into a server. */
  Watchers(long pid, URI console) throws IOException, InterruptedException {
    WebSocket page =
        client
            .newWebSocketBuilder()
            .buildAsync(
                URI.create(console.toString().replaceFirst("^http", "ws") + "live"), new Page())
            .join();
    page.sendText("look overview", true).join();
    socket = connect(Path.of("/tmp/.weft_pid" + pid));
    Thread.ofPlatform().daemon().name("top").start(this::ask);
  }

  /** Counts the messages of the console. */
  private final class Page implements WebSocket.Listener {
    @Override
    public @Nullable CompletionStage<?> onText(WebSocket from, CharSequence text, boolean last) {
      if (last) {
        ticks.incrementAndGet();
      }
      from.request(1);
      return null;
    }
  }

  private static SocketChannel connect(Path folder) throws IOException, InterruptedException {
    long begin = System.nanoTime();
    while (true) {
      try {
        if (!Files.exists(folder)) {
          Files.createDirectory(
              folder,
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        }
        return SocketChannel.open(UnixDomainSocketAddress.of(folder.resolve("socket")));
      } catch (IOException e) {
        if (System.nanoTime() - begin > PATIENCE_NANOS) {
          throw e;
        }
        Thread.sleep(10); // the server has not seen the folder yet
      }
    }
  }

  /** Asks each second, until the socket is closed. */
  private void ask() {
    try {
      DataInputStream in = new DataInputStream(Channels.newInputStream(socket));
      while (in.read() != '\n') {} // the greeting
      byte[] request = ("top cpu " + ROWS + "\n").getBytes(StandardCharsets.UTF_8);
      while (true) {
        socket.write(ByteBuffer.wrap(request));
        for (int length = in.readInt(); length > 0; length = in.readInt()) {
          in.readNBytes(length);
        }
        pages.incrementAndGet();
        Thread.sleep(PERIOD_MILLIS);
      }
    } catch (IOException | InterruptedException e) {
      // closed
    }
  }

  /** Returns how many messages of the console and answers to top have come; the smaller number. */
  int looks() {
    return Math.min(ticks.get(), pages.get());
  }

  @Override
  public void close() throws IOException {
    client.shutdownNow();
    client.close();
    socket.close(); // ends the thread too
  }
}
