package dev.weft.im;

import java.time.Duration;

/**
 * What one client, one user, and all together may take.
 *
 * @param connectionBytes of the lines that wait for one connection
 * @param userBytes of the lines that wait for all connections of one user
 * @param totalBytes of the lines that wait for all connections
 * @param connections how many there may be
 * @param login how long a connection may be logged out
 * @param stall how long a client may take to read what is written to it at once
 */
record Limits(
    long connectionBytes,
    long userBytes,
    long totalBytes,
    int connections,
    Duration login,
    Duration stall) {
  private static final long MIB = 1 << 20;

  /**
   * For each so many bytes of the heap there may be one connection. Before it logs in a client can
   * fill 12 KB with a line that it does not end and 13 KB with the head of a request at the web
   * port, which has as many connections of its own, or 38 KB with the message of a WebSocket, each
   * with its fiber; the rest is for what waits for users.
   */
  private static final long HEAP_FOR_CONNECTION = 64 * 1024;

  /**
   * With TLS a line takes 62 KB, a head 54 KB and a WebSocket 71 KB: the JDK's buffers are long.
   */
  private static final long HEAP_FOR_ENCRYPTED = 192 * 1024;

  private static final int MOST_CONNECTIONS = 1_000_000;

  /** Returns those that suit the heap of this process. */
  static Limits ofHeap(boolean encrypted) {
    long heap = Runtime.getRuntime().maxMemory();
    long forConnection = encrypted ? HEAP_FOR_ENCRYPTED : HEAP_FOR_CONNECTION;
    return new Limits(
        MIB,
        8 * MIB,
        heap / 8,
        (int) Math.min(MOST_CONNECTIONS, heap / forConnection),
        Duration.ofSeconds(90),
        Duration.ofSeconds(30));
  }

  Limits withConnectionBytes(long bytes) {
    return new Limits(bytes, userBytes, totalBytes, connections, login, stall);
  }

  Limits withUserBytes(long bytes) {
    return new Limits(connectionBytes, bytes, totalBytes, connections, login, stall);
  }

  Limits withTotalBytes(long bytes) {
    return new Limits(connectionBytes, userBytes, bytes, connections, login, stall);
  }

  Limits withConnections(int most) {
    return new Limits(connectionBytes, userBytes, totalBytes, most, login, stall);
  }

  Limits withLogin(Duration limit) {
    return new Limits(connectionBytes, userBytes, totalBytes, connections, limit, stall);
  }

  Limits withStall(Duration limit) {
    return new Limits(connectionBytes, userBytes, totalBytes, connections, login, limit);
  }
}
