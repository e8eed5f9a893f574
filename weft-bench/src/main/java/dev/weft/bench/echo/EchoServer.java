package dev.weft.bench.echo;

import dev.weft.Body;
import java.io.IOException;

/** A server that sends back what it gets, at a free port of the loopback address. */
interface EchoServer {
  /** The longest queue of connections that are not accepted yet; the system may allow less. */
  int BACKLOG = 4096;

  /** Starts the line that tells the port of a server. */
  String PORT = "@port ";

  /** Tells the port to the process that has started this one. */
  static void tellPort(int port) {
    System.out.println(PORT + port);
  }

  /**
   * Begins to serve, for as long as the process lives, and tells the port.
   *
   * @param threads how many threads handle events
   * @param buffer the size of a buffer to read into: more than a message, so that a read that does
   *     not fill it has taken all there is
   */
  void start(int threads, int buffer) throws IOException;

  /** Runs a body on the threads that serve; not every server can. */
  default void compute(Body body) {
    throw new UnsupportedOperationException("this server only serves");
  }

  /** The servers there are. */
  enum Kind {
    /** Weft: a fiber for each connection, on the poller that {@code -Dweft.poller} names. */
    WEFT,
    /** Likewise, each thread with a listener of its own. */
    WEFT_LISTENERS,
    /** The limit: a loop over epoll with the same foreign functions, and nothing else. */
    BARE_EPOLL,
    /** The limit for stacks of their own: the same loop, with a raw continuation for each one. */
    BARE_CONTINUATIONS,
    /** The JDK's selectors. */
    NIO,
    /** Blocking sockets on the JDK's virtual threads. */
    VIRTUAL_THREADS,
    /** The same program on a scheduler of Weft. */
    GUESTS_OF_WEFT,
    /** Netty on its native epoll. */
    NETTY,
    /** Weft: echoes and computing fibers on one scheduler. */
    MIXED,
    /** Likewise, and the computing fibers are not set apart. */
    MIXED_TOGETHER,
    /** Likewise, the computing fibers on a scheduler of their own. */
    MIXED_APART,
    /** HTTP by Weft's server; a short text, not an echo. */
    HTTP_WEFT,
    /** Likewise, by the JDK's server. */
    HTTP_JDK,
    /** Likewise, with a virtual thread for each request. */
    HTTP_JDK_VIRTUAL;

    boolean isHttp() {
      return name().startsWith("HTTP");
    }
  }
}
