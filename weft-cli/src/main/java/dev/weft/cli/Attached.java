package dev.weft.cli;

import dev.weft.internal.PlainText;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.Channels;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A connection to a process that uses Weft: the other side of {@code dev.weft.internal.attach},
 * which has the protocol.
 */
final class Attached implements AutoCloseable {
  private static final long LIMIT_NANOS = 5_000_000_000L;
  private static final long LIMIT_CHECK_MILLIS = 200;
  private static final String PROTOCOL = "weft 1";
  private static final int LONGEST_GREETING = 100;
  private static final int LONGEST_CHUNK = 1_000_000;

  private final ProcessHandle process;
  private final SocketChannel channel;
  private final DataInputStream in;

  // when the process was asked or last sent something; by the thread that asks
  private volatile long heard;

  private Attached(ProcessHandle process, SocketChannel channel) throws IOException {
    this.process = process;
    this.channel = channel;
    this.in = new DataInputStream(Channels.newInputStream(channel));
    String greeting = greeting();
    if (!greeting.equals(PROTOCOL)) {
      close();
      throw UserMistake.program(
          greeting.isEmpty()
              ? "process %d refuses: too many others look into it".formatted(process.pid())
              : "process %d has another version of Weft, with the protocol '%s' instead of '%s': use the ./weft of that version"
                  .formatted(process.pid(), PlainText.oneLine(greeting), PROTOCOL));
    }
  }

  /** Reads the first line. A read has no time limit: another thread closes the channel. */
  private String greeting() throws IOException {
    Thread limit = Thread.ofPlatform().daemon().start(this::closeAfterLimit);
    try {
      StringBuilder line = new StringBuilder();
      for (int c = in.read();
          c >= 0 && c != '\n' && line.length() < LONGEST_GREETING;
          c = in.read()) {
        line.append((char) c);
      }
      return line.toString();
    } catch (AsynchronousCloseException e) {
      throw silent(process);
    } finally {
      limit.interrupt();
    }
  }

  private void closeAfterLimit() {
    try {
      Thread.sleep(Duration.ofNanos(LIMIT_NANOS));
      channel.close();
    } catch (InterruptedException | IOException e) {
      // the greeting has come, or the read has ended anyway
    }
  }

  /** Connects to a process; it answers within a tenth of a second as a rule. */
  static Attached to(ProcessHandle process) throws IOException {
    AskFolder.deleteStale();
    AskFolder folder = AskFolder.of(process);
    boolean again = false;
    long begin = System.nanoTime();
    while (System.nanoTime() - begin < LIMIT_NANOS) {
      SocketChannel channel = folder.make() ? connect(folder.socket()) : null;
      if (channel != null) {
        try {
          return new Attached(process, channel);
        } catch (IOException e) { // the process closed its socket just then: it opens another one
          channel.close();
          if (again) {
            throw new IOException(
                "process %d does not answer: %s".formatted(process.pid(), e.getMessage()), e);
          }
          again = true;
        }
      }
      if (!process.isAlive()) {
        folder.delete();
        throw UserMistake.program("process " + process.pid() + " has ended");
      }
      try {
        Thread.sleep(10);
      } catch (InterruptedException e) {
        break;
      }
    }
    folder.delete();
    throw silent(process);
  }

  private static UserMistake silent(ProcessHandle process) {
    return UserMistake.program(
        "process %d has not answered for 5 s: %s"
            .formatted(
                process.pid(),
                isStopped(process.pid())
                    ? "it is stopped; 'kill -CONT %d' lets it go on".formatted(process.pid())
                    : "it has no scheduler that runs, or was started with -Dweft.attach=off"));
  }

  private static @Nullable SocketChannel connect(Path socket) {
    try {
      return Files.exists(socket) ? SocketChannel.open(UnixDomainSocketAddress.of(socket)) : null;
    } catch (IOException e) {
      return null; // just made, or just about to be deleted
    }
  }

  /** Returns whether the process has been stopped by a signal. */
  static boolean isStopped(long pid) {
    String stat = WeftProcesses.read(Path.of("/proc/" + pid + "/stat"));
    return stat.substring(stat.lastIndexOf(')') + 1).strip().startsWith("T");
  }

  /**
   * Sends a request and copies the answer, which a terminal may show. If the process is stopped and
   * has sent nothing for a while, this gives up.
   */
  void askOnce(String request, OutputStream out) throws IOException {
    Thread limit = Thread.ofPlatform().daemon().start(this::closeIfStopped);
    try {
      ask(request, out);
    } catch (ClosedChannelException e) {
      throw silent(process);
    } finally {
      limit.interrupt();
    }
  }

  private void closeIfStopped() {
    try {
      while (!isStopped(process.pid()) || System.nanoTime() - heard < LIMIT_NANOS) {
        Thread.sleep(LIMIT_CHECK_MILLIS);
      }
      channel.close();
    } catch (InterruptedException | IOException e) {
      // the answer has come, or the read has ended anyway
    }
  }

  private void ask(String request, OutputStream out) throws IOException {
    heard = System.nanoTime();
    try {
      channel.write(ByteBuffer.wrap((request + "\n").getBytes(StandardCharsets.UTF_8)));
      byte[] last = new byte[0];
      int lastByte = 0;
      int length = in.readInt();
      while (length > 0) {
        if (length > LONGEST_CHUNK) {
          throw new IOException(
              "the answer is not one of Weft's: a chunk of %,d bytes".formatted(length));
        }
        out.write(last);
        heard = System.nanoTime();
        last = in.readNBytes(length);
        lastByte = withoutControls(last, lastByte);
        length = in.readInt();
      }
      if (length < 0) {
        throw UserMistake.program(new String(last, StandardCharsets.UTF_8));
      }
      out.write(last);
      out.flush();
    } catch (EOFException e) {
      throw ended(e);
    } catch (IOException e) {
      if (process.isAlive()) {
        throw e;
      }
      throw ended(e);
    }
  }

  /**
   * Replaces control characters but for line breaks and tabs: a name of the process must not
   * command the terminal of its operator. In UTF-8 they are 00 to 1f, 7f, and c2 80 to c2 9f.
   *
   * @param before the byte before these
   * @return the last byte, as it was
   */
  private static int withoutControls(byte[] text, int before) {
    int previous = before;
    for (int i = 0; i < text.length; i++) {
      int each = text[i] & 0xff;
      if ((each < ' ' && each != '\n' && each != '\t') || each == 0x7f) {
        text[i] = ' ';
      } else if (previous == 0xc2 && each < 0xa0) {
        text[i] = (byte) 0xa0; // a space too
      }
      previous = each;
    }
    return previous;
  }

  private UserMistake ended(IOException e) {
    UserMistake mistake = UserMistake.program("process " + process.pid() + " has ended");
    mistake.addSuppressed(e);
    return mistake;
  }

  /** Sends a request and returns the answer. */
  String ask(String request) throws IOException {
    ByteArrayOutputStream answer = new ByteArrayOutputStream();
    ask(request, answer);
    return answer.toString(StandardCharsets.UTF_8);
  }

  /** Sends a request and returns the answer; gives up as the other {@code askOnce} does. */
  String askOnce(String request) throws IOException {
    ByteArrayOutputStream answer = new ByteArrayOutputStream();
    askOnce(request, answer);
    return answer.toString(StandardCharsets.UTF_8);
  }

  ProcessHandle process() {
    return process;
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
