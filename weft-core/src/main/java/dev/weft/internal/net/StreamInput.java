package dev.weft.internal.net;

import dev.weft.net.TcpStream;
import java.io.IOException;
import java.io.InputStream;

/** The bytes that are read from a {@link TcpStream}. */
public final class StreamInput extends InputStream {
  private final TcpStream stream;

  /** Creates a view of a stream; closing it closes the stream. */
  public StreamInput(TcpStream stream) {
    this.stream = stream;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return stream.read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    return stream.read(bytes, offset, length);
  }

  @Override
  public void close() {
    stream.close();
  }
}
