package dev.weft.http;

import java.io.IOException;
import java.net.InetSocketAddress;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/** The bytes of a connection, as they are or encrypted. One thread reads at a time, one writes. */
interface Transport extends Input.Source, Output.Sink, AutoCloseable {
  /**
   * Ends the output and then discards what comes, until the other side ends too or has sent so many
   * bytes. To close a socket that has unread bytes would reset the connection, and the other side
   * could lose what was sent to it last: RFC 9112, section 9.6.
   */
  void linger(long mostBytes) throws IOException;

  /** Returns the address of this end. */
  InetSocketAddress localAddress() throws IOException;

  /** Returns the address of the other end. */
  InetSocketAddress remoteAddress() throws IOException;

  /** Returns what was agreed on with the other side, or null if nothing is encrypted. */
  @Nullable SSLSession session();

  /** Closes it, which wakes waiting readers and writers. Any thread may, at any time, and twice. */
  @Override
  void close();

  /** Closes it without a word to the other side, and so without a wait. */
  void abort();
}
