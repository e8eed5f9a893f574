package dev.weft.stress;

import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.net.TcpListener;
import dev.weft.net.TcpStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Connections come and go on two threads, so that descriptors are closed and handed out anew while
 * others are being waited for: each gets the answer to its own question.
 */
final class SocketStress {
  private static final int CLIENTS = 4;

  private final AtomicLong connected = new AtomicLong();
  private final AtomicLong answers = new AtomicLong();
  private final Progress progress;

  private SocketStress(Progress progress) {
    this.progress = progress;
  }

  /** Makes so many connections; returns how many waited for their answer. */
  static long run(long connections, long seed, Progress progress) throws Exception {
    SocketStress stress = new SocketStress(progress);
    InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    TcpListener listener = TcpListener.bind(anyPort);
    try (Scheduler two = Scheduler.builder().threads(Threads.orElse(2)).build().start()) {
      Fiber<Void> server = two.go(() -> serve(two, listener));
      SocketAddress address = listener.localAddress();
      List<Fiber<Void>> clients = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        long first = seed + i;
        clients.add(
            two.go(
                () -> {
                  for (long n = first; n < seed + connections; n += CLIENTS) {
                    stress.ask(address, n);
                  }
                }));
      }
      try {
        for (Fiber<Void> client : clients) {
          client.join();
        }
      } catch (CompletionException e) {
        throw new AssertionError(e.getCause().toString(), e.getCause());
      } finally {
        listener.close();
        clients.forEach(Fiber::cancel); // the others, if one has failed
      }
      server.join();
    }
    return stress.answers.get();
  }

  private static void serve(Scheduler two, TcpListener listener) throws IOException {
    while (true) {
      TcpStream stream;
      try {
        stream = listener.accept();
      } catch (ClosedChannelException e) {
        return;
      }
      two.go(() -> answer(stream));
    }
  }

  private static void answer(TcpStream stream) {
    try (stream) {
      ByteBuffer question = ByteBuffer.allocate(Long.BYTES);
      readFully(stream, question);
      stream.write(question.flip());
      stream.read(ByteBuffer.allocate(1)); // waits for its end
    } catch (IOException e) {
      // it has hung up
    }
  }

  private void ask(SocketAddress address, long number) throws IOException {
    try (TcpStream stream = TcpStream.connect(address)) {
      stream.option(StandardSocketOptions.SO_LINGER, 0); // or the ports run out
      stream.write(ByteBuffer.allocate(Long.BYTES).putLong(number).flip());
      if (number % 3 != 0) { // else it hangs up on the answer
        ByteBuffer answer = ByteBuffer.allocate(Long.BYTES);
        readFully(stream, answer);
        if (answer.getLong(0) != number) {
          throw new AssertionError("asked " + number + ", and was told " + answer.getLong(0));
        }
        answers.incrementAndGet();
      }
    }
    progress.at(connected.incrementAndGet());
  }

  private static void readFully(TcpStream stream, ByteBuffer buffer) throws IOException {
    while (buffer.hasRemaining()) {
      if (stream.read(buffer) < 0) {
        throw new IOException(stream + " has ended too early");
      }
    }
  }
}
