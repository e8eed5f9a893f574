package dev.weft.internal.net;

import dev.weft.net.TcpStream;
import java.io.IOException;
import java.io.OutputStream;

/** The bytes that are written to a {@link TcpStream}. */
public final class StreamOutput extends OutputStream {
  private final TcpStream stream;

  /** Creates a view of a stream; closing it closes the stream. */
  public StreamOutput(TcpStream stream) {
    this.stream = stream;
  }

  @Override
  public void write(int value) throws IOException {
    stream.write(new byte[] {(byte) value}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    stream.write(bytes, offset, length);
  }

  @Override
  public void close() {
    stream.close();
  }
}
