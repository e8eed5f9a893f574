package dev.weft.bench.echo;

import dev.weft.internal.poller.LinuxCalls;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import jdk.internal.vm.Continuation;
import jdk.internal.vm.ContinuationScope;
import org.jspecify.annotations.Nullable;

/**
 * The limit: loops over epoll by the same foreign functions as Weft's, with nothing else around
 * them. The first loop accepts, and deals connections out to all.
 *
 * <p>The limit for servers with a stack for each connection is the same loop with a raw
 * continuation, and a buffer, for each: no scheduler, no thread, no lock.
 */
final class BareEpollServer implements EchoServer {
  private static final ContinuationScope SCOPE = new ContinuationScope("connection");

  private final int listener = Epoll.socket();
  private final boolean continuations;

  BareEpollServer(boolean continuations) {
    this.continuations = continuations;
  }

  @Override
  public void start(int threads, int buffer) {
    Epoll.check("bind", LinuxCalls.bind(listener, Epoll.loopback(0)));
    Epoll.check("listen", LinuxCalls.listen(listener, BACKLOG));
    Loop[] loops = new Loop[threads];
    for (int i = 0; i < threads; i++) {
      loops[i] = new Loop(buffer, loops);
    }
    loops[0].epoll.add(listener, listener);
    for (Loop loop : loops) {
      Thread.ofPlatform().name("bare epoll").start(loop);
    }
    EchoServer.tellPort(port());
  }

  private int port() {
    byte[] address = new byte[16];
    MemorySegment length = MemorySegment.ofArray(new int[] {address.length});
    Epoll.check(
        "getsockname", LinuxCalls.localName(listener, MemorySegment.ofArray(address), length));
    return (address[2] & 0xFF) << 8 | (address[3] & 0xFF);
  }

  private final class Loop implements Runnable {
    private final Epoll epoll = new Epoll();
    private final MemorySegment buffer;
    private final MemorySegment state = LinuxCalls.newState();
    private final Loop[] all;
    private int next;

    // what could not be sent yet, by descriptor; seldom anything
    private final Map<Integer, MemorySegment> unsent = new HashMap<>();

    // by descriptor, if there are any
    private @Nullable Continuation[] connections = new Continuation[64];

    Loop(int size, Loop[] all) {
      this.buffer = MemorySegment.ofArray(new byte[size]);
      this.all = all;
    }

    @Override
    public void run() {
      while (true) {
        int found = epoll.await(-1);
        for (int i = 0; i < found; i++) {
          handle(epoll.number(i), epoll.happened(i));
        }
      }
    }

    private void handle(int fd, int happened) {
      if (fd == listener) {
        accept();
        return;
      }
      if (!unsent.isEmpty() && Epoll.isWritable(happened)) {
        MemorySegment rest = unsent.remove(fd);
        if (rest != null) {
          send(fd, rest);
        }
      }
      if (Epoll.isReadable(happened)) {
        if (continuations) {
          resume(fd);
        } else {
          echo(fd, buffer);
        }
      }
    }

    private void resume(int fd) {
      if (fd >= connections.length) {
        connections = Arrays.copyOf(connections, 2 * fd);
      }
      Continuation connection = connections[fd];
      if (connection == null) {
        connection = new Continuation(SCOPE, () -> serve(fd));
        connections[fd] = connection;
      }
      connection.run();
      if (connection.isDone()) {
        connections[fd] = null;
      }
    }

    private void serve(int fd) {
      MemorySegment own = MemorySegment.ofArray(new byte[(int) buffer.byteSize()]);
      while (echo(fd, own)) {
        Continuation.yield(SCOPE);
      }
    }

    /** Sends back all that has come; returns false if the other side has ended. */
    private boolean echo(int fd, MemorySegment buffer) {
      while (true) {
        long count = LinuxCalls.receive(fd, buffer, state);
        if (count == -LinuxCalls.EAGAIN) {
          return true;
        }
        if (count <= 0) {
          unsent.remove(fd);
          LinuxCalls.close(fd);
          return false;
        }
        send(fd, buffer.asSlice(0, count));
        if (count < buffer.byteSize()) {
          return true; // all was taken
        }
      }
    }

    private void send(int fd, MemorySegment bytes) {
      if (!unsent.isEmpty() && unsent.containsKey(fd)) {
        unsent.merge(fd, bytes, Loop::joined);
        return;
      }
      long sent = LinuxCalls.send(fd, bytes, state);
      if (sent == -LinuxCalls.EAGAIN) {
        sent = 0;
      }
      if (sent >= 0 && sent < bytes.byteSize()) {
        unsent.put(fd, joined(bytes.asSlice(sent), MemorySegment.ofArray(new byte[0])));
      }
    }

    private static MemorySegment joined(MemorySegment first, MemorySegment second) {
      byte[] both = new byte[(int) (first.byteSize() + second.byteSize())];
      MemorySegment target = MemorySegment.ofArray(both);
      target.copyFrom(first);
      target.asSlice(first.byteSize()).copyFrom(second);
      return target;
    }

    private void accept() {
      byte[] address = new byte[16];
      while (true) {
        MemorySegment length = MemorySegment.ofArray(new int[] {address.length});
        int nonBlocking = 0x800;
        int accepted =
            LinuxCalls.accept(listener, MemorySegment.ofArray(address), length, nonBlocking);
        if (accepted == -LinuxCalls.EAGAIN) {
          return;
        }
        Epoll.check("accept4", accepted);
        Epoll.noDelay(accepted);
        all[next++ % all.length].epoll.add(accepted, accepted);
      }
    }
  }
}
