package dev.weft.net;

import java.io.IOException;
import java.io.OutputStream;

/** What is written to a stream. */
final class StreamOutput extends OutputStream {
  private final TcpStream stream;

  StreamOutput(TcpStream stream) {
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
