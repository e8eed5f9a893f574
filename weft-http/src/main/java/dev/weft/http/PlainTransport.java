package dev.weft.http;

import dev.weft.net.TcpStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/** A connection that is not encrypted. */
final class PlainTransport implements Transport {
  /** Room for what comes while a connection is closed: usually nothing. */
  private static final int LITTLE_SCRATCH = 64;

  private static final int SCRATCH = 8 * 1024;

  private final TcpStream stream;

  PlainTransport(TcpStream stream) {
    this.stream = stream;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    return stream.read(bytes, offset, length);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    stream.write(bytes, offset, length);
  }

  @Override
  public void linger(long mostBytes) throws IOException {
    stream.shutdownOutput();
    discard(stream, mostBytes);
  }

  /** Discards what comes, until the end or until so many bytes have come. */
  static void discard(TcpStream stream, long mostBytes) throws IOException {
    byte[] scratch = new byte[LITTLE_SCRATCH];
    for (long sum = 0; sum < mostBytes; ) {
      int count = stream.read(scratch, 0, scratch.length);
      if (count < 0) {
        return;
      }
      sum += count;
      scratch = scratch.length == SCRATCH ? scratch : new byte[SCRATCH];
    }
  }

  @Override
  public InetSocketAddress localAddress() throws IOException {
    return (InetSocketAddress) stream.localAddress();
  }

  @Override
  public InetSocketAddress remoteAddress() throws IOException {
    return (InetSocketAddress) stream.remoteAddress();
  }

  @Override
  public @Nullable SSLSession session() {
    return null;
  }

  @Override
  public void close() {
    stream.close();
  }

  @Override
  public void abort() {
    stream.close();
  }
}
