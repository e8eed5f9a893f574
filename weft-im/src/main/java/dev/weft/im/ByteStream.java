package dev.weft.im;

import dev.weft.net.TcpStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;

/** The bytes of a TCP connection, plain or encrypted. */
interface ByteStream {
  /** Waits for some bytes; returns how many, or -1 at the end. */
  int read(byte[] target, int offset, int length) throws IOException;

  /** Writes all bytes; if it fails the position tells how many were written, at least. */
  void write(ByteBuffer bytes) throws IOException;

  /** Closes it at once. */
  void close();

  /** Returns the plain bytes of a connection. */
  static ByteStream plain(TcpStream stream) {
    return new ByteStream() {
      @Override
      public int read(byte[] target, int offset, int length) throws IOException {
        return stream.read(target, offset, length);
      }

      @Override
      public void write(ByteBuffer bytes) throws IOException {
        stream.write(bytes);
      }

      @Override
      public void close() {
        stream.close();
      }
    };
  }

  /**
   * Returns the bytes of an encrypted connection. The handshake is made by the first read: a client
   * that takes long for it only makes its own fiber wait.
   */
  static ByteStream encrypted(Socket socket, SSLSocketFactory factory) throws IOException {
    SSLSocket secure = (SSLSocket) factory.createSocket(socket, null, socket.getPort(), true);
    secure.setUseClientMode(false);
    AtomicBoolean writing = new AtomicBoolean();
    return new ByteStream() {
      @Override
      public int read(byte[] target, int offset, int length) throws IOException {
        return secure.getInputStream().read(target, offset, length);
      }

      @Override
      public void write(ByteBuffer bytes) throws IOException {
        byte[] plain = new byte[bytes.remaining()];
        bytes.duplicate().get(plain);
        writing.set(true);
        try {
          secure.getOutputStream().write(plain);
          bytes.position(bytes.limit());
        } finally {
          writing.set(false);
        }
      }

      @Override
      public void close() {
        try {
          if (!writing.get()) {
            secure.close(); // says goodbye
          }
          socket.close(); // a write under way would keep the other close waiting
        } catch (IOException e) {
          // it is closed
        }
      }
    };
  }
}
