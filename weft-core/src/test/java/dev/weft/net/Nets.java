package dev.weft.net;

import dev.weft.Fiber;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Shared parts of the socket tests. */
final class Nets {
  private static final long LIMIT_NANOS = 15_000_000_000L;

  private Nets() {}

  /** A free port of loopback. */
  static InetSocketAddress loopback() {
    return loopback(0);
  }

  static InetSocketAddress loopback(int port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Reads this many bytes. */
  static String text(TcpStream stream, int length) throws IOException {
    byte[] bytes = stream.inputStream().readNBytes(length);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  /** Reads to the end. */
  static String rest(TcpStream stream) throws IOException {
    return new String(stream.inputStream().readAllBytes(), StandardCharsets.UTF_8);
  }

  /** Both ends of a connection. */
  record Pair(TcpStream client, TcpStream server) implements AutoCloseable {
    static Pair open() throws IOException {
      try (TcpListener listener = TcpListener.bind(loopback())) {
        TcpStream client = TcpStream.connect(listener.localAddress());
        return new Pair(client, listener.accept());
      }
    }

    @Override
    public void close() {
      client.close();
      server.close();
    }
  }

  static void eventually(String what, BooleanSupplier condition) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - start > LIMIT_NANOS) {
        throw new AssertionError("has not come about: " + what);
      }
      LockSupport.parkNanos(100_000);
    }
  }

  static void waits(Fiber<?> fiber) {
    eventually(fiber + " waits", () -> fiber.status() == Fiber.Status.WAITING);
  }
}
