package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** The snippets of the Javadoc of the hook: compiled, run and checked here. */
class HookSnippetsTest {
  @Test
  @Feature("H5")
  void disable() {
    AtomicInteger others = new AtomicInteger();
    Weft.run(
        () -> {
          // @start region="disable"
          Hook.disable();
          try {
            Thread.sleep(1); // blocks the thread itself: no other fiber runs on it meanwhile
          } finally {
            Hook.enable();
          }
          Thread.sleep(1); // gives the thread to others
          // @end
          others.incrementAndGet();
        });
    assertThat(others.get()).isEqualTo(1);
  }

  @Test
  @Feature("H2")
  void plainBlockingCode() throws IOException {
    AtomicReference<String> heard = new AtomicReference<>("");
    // @start region="sockets"
    try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      Weft.run(
          () -> {
            Weft.go(
                () -> {
                  try (Socket peer = server.accept()) { // waits, and so does read below,
                    peer.getOutputStream().write("hello".getBytes(StandardCharsets.UTF_8));
                  }
                });
            try (Socket socket = new Socket(server.getInetAddress(), server.getLocalPort())) {
              byte[] greeting = socket.getInputStream().readAllBytes(); // but no thread does
              heard.set(new String(greeting, StandardCharsets.UTF_8));
            }
          });
    }
    // @end
    assertThat(heard.get()).isEqualTo("hello");
  }
}
