package dev.weft.internal.attach;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/**
 * One process that looks into this one.
 *
 * <pre>
 *   this process     "weft 1\n"            the version of the protocol
 *   the other        a request, a line
 *   this process     chunks: a length, 4 bytes, big-endian, and so many bytes of UTF-8
 *                    0: the end of the answer; -1: the end, and the last chunk is what went wrong
 *   the other        the next request
 * </pre>
 */
final class Connection {
  private static final String GREETING = "weft 1\n";
  private static final int LONGEST_REQUEST = 1_000;
  private static final int CHUNK = 8_192;

  private final SocketChannel channel;

  Connection(SocketChannel channel) {
    this.channel = channel;
  }

  /** Answers requests until the other side closes the connection. */
  void serve() {
    try (channel;
        LiveFigures figures = new LiveFigures()) {
      Answers answers = new Answers(figures);
      InputStream in = new BufferedInputStream(Channels.newInputStream(channel));
      DataOutputStream out =
          new DataOutputStream(new BufferedOutputStream(Channels.newOutputStream(channel)));
      out.write(GREETING.getBytes(StandardCharsets.UTF_8));
      out.flush();
      String request = readLine(in);
      while (!request.isEmpty()) {
        answer(answers, request, out);
        request = readLine(in);
      }
    } catch (IOException e) {
      // the other process has gone
    }
  }

  private static void answer(Answers answers, String request, DataOutputStream out)
      throws IOException {
    int end = 0;
    try {
      Writer writer = new OutputStreamWriter(new Chunks(out), StandardCharsets.UTF_8);
      answers.write(request, writer);
      writer.flush();
    } catch (IllegalArgumentException | IllegalStateException e) {
      end = fail(String.valueOf(e.getMessage()), out);
    } catch (RuntimeException | Error e) { // a fault of Weft's, or no memory: the process goes on
      end = fail("the process cannot answer '" + request + "': " + e, out);
    }
    out.writeInt(end);
    out.flush();
  }

  /** Writes what went wrong as the last chunk; returns the end of such an answer. */
  private static int fail(String why, DataOutputStream out) throws IOException {
    byte[] text = why.getBytes(StandardCharsets.UTF_8);
    out.writeInt(text.length);
    out.write(text);
    return -1;
  }

  /** Reads a line; empty at the end of the stream, or if the line is too long for a request. */
  private static String readLine(InputStream in) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int c = in.read(); c >= 0 && c != '\n'; c = in.read()) {
      line.write(c);
      if (line.size() > LONGEST_REQUEST) {
        return "";
      }
    }
    return line.toString(StandardCharsets.UTF_8);
  }

  /** Writes chunks. */
  private static final class Chunks extends OutputStream {
    private final DataOutputStream out;
    private final byte[] buffer = new byte[CHUNK];
    private int size;

    Chunks(DataOutputStream out) {
      this.out = out;
    }

    @Override
    public void write(int b) throws IOException {
      if (size == CHUNK) {
        flush();
      }
      buffer[size++] = (byte) b;
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
      for (int i = from; i < from + length; i++) {
        write(bytes[i]);
      }
    }

    @Override
    public void flush() throws IOException {
      if (size > 0) {
        out.writeInt(size);
        out.write(buffer, 0, size);
        size = 0;
      }
    }
  }
}
