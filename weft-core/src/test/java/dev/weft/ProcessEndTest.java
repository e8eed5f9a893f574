package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.net.TcpListener;
import dev.weft.testkit.Command;
import dev.weft.testkit.Feature;
import java.io.BufferedReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A process ends when its program ends, not a third of a second later: see ProcessEnd. */
class ProcessEndTest {
  /**
   * The time that the JVM gives threads in native code; without Weft's help it always waits that
   * long.
   */
  private static final Duration JVMS_PATIENCE = Duration.ofMillis(300);

  private static final int TRIES = 30; // a busy machine may take as long for other reasons

  /** Uses a scheduler that ends before main. */
  static final class Own {
    public static void main(String[] args) {
      Weft.run(() -> {});
      System.out.println("end");
    }
  }

  /** Leaves idle workers behind that have had sockets. */
  static final class Shared {
    public static void main(String[] args) throws Exception {
      Weft.go(
              () -> {
                InetAddress loopback = InetAddress.getLoopbackAddress();
                try (TcpListener listener = TcpListener.bind(new InetSocketAddress(loopback, 0))) {
                  listener.acceptTimeout(Duration.ofMillis(1));
                  listener.accept();
                } catch (SocketTimeoutException e) {
                  // the expected exception
                }
              })
          .join();
      System.out.println("end");
    }
  }

  /** Leaves an idle worker behind that was woken often, and so waits on a futex. */
  static final class WokenOften {
    public static void main(String[] args) throws Exception {
      while (Thread.getAllStackTraces().values().stream().noneMatch(WokenOften::isInFutex)) {
        for (int i = 0; i < 100; i++) {
          Weft.go(() -> {}).join();
        }
      }
      System.out.println("end");
    }

    private static boolean isInFutex(StackTraceElement[] stack) {
      return Stream.of(stack).anyMatch(frame -> frame.getMethodName().equals("futexWait"));
    }
  }

  /** Ends with System.exit. */
  static final class Exits {
    public static void main(String[] args) {
      Weft.run(() -> {});
      System.out.println("end");
      System.exit(0);
    }
  }

  @ParameterizedTest
  @ValueSource(classes = {Own.class, Shared.class, WokenOften.class, Exits.class})
  @Feature("S10")
  void endsAtOnce(Class<?> program) throws Exception {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < TRIES && least >= JVMS_PATIENCE.toNanos(); i++) {
      least = Math.min(least, nanosFromEndToEnd(program));
    }
    assertThat(Duration.ofNanos(least)).isLessThan(JVMS_PATIENCE);
  }

  private static long nanosFromEndToEnd(Class<?> program) throws Exception {
    Process process = Command.java(ForkedJvm.weftArgs(), program.getName()).start();
    try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
      assertThat(output.readLine()).isEqualTo("end");
      long end = System.nanoTime();
      assertThat(process.waitFor()).isZero();
      return System.nanoTime() - end;
    } finally {
      process.destroyForcibly();
    }
  }
}
