package dev.weft.bench.echo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Loops over the JDK's selectors; the first accepts, and deals connections out to all. */
final class NioServer implements EchoServer {
  @Override
  public void start(int threads, int buffer) throws IOException {
    Loop[] loops = new Loop[threads];
    for (int i = 0; i < threads; i++) {
      loops[i] = new Loop(buffer, loops);
    }
    ServerSocketChannel listener = ServerSocketChannel.open();
    listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), BACKLOG);
    listener.configureBlocking(false);
    listener.register(loops[0].selector, SelectionKey.OP_ACCEPT);
    for (Loop loop : loops) {
      Thread.ofPlatform().name("nio").start(loop);
    }
    EchoServer.tellPort(((InetSocketAddress) listener.getLocalAddress()).getPort());
  }

  private static final class Loop implements Runnable {
    private final Selector selector = Selector.open();
    private final Queue<SocketChannel> arrivals = new ConcurrentLinkedQueue<>();
    private final ByteBuffer buffer;
    private final Loop[] all;
    private int next;

    Loop(int buffer, Loop[] all) throws IOException {
      this.buffer = ByteBuffer.allocateDirect(buffer);
      this.all = all;
    }

    @Override
    public void run() {
      try {
        while (true) {
          selector.select(this::handle);
          for (SocketChannel c = arrivals.poll(); c != null; c = arrivals.poll()) {
            c.register(selector, SelectionKey.OP_READ);
          }
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private void handle(SelectionKey key) {
      try {
        if (key.channel() instanceof ServerSocketChannel listener) {
          accept(listener);
        } else {
          echo(key, (SocketChannel) key.channel());
        }
      } catch (IOException e) {
        hangUp(key);
      }
    }

    private void accept(ServerSocketChannel listener) throws IOException {
      for (SocketChannel c = listener.accept(); c != null; c = listener.accept()) {
        c.configureBlocking(false);
        c.setOption(StandardSocketOptions.TCP_NODELAY, true);
        Loop chosen = all[next++ % all.length];
        chosen.arrivals.add(c);
        if (chosen != this) {
          chosen.selector.wakeup();
        }
      }
    }

    private void echo(SelectionKey key, SocketChannel channel) throws IOException {
      if (key.attachment() instanceof ByteBuffer unsent) {
        channel.write(unsent);
        if (unsent.hasRemaining()) {
          return;
        }
        key.attach(null);
        key.interestOps(SelectionKey.OP_READ);
      }
      if (channel.read(buffer.clear()) < 0) {
        hangUp(key);
        return;
      }
      channel.write(buffer.flip());
      if (buffer.hasRemaining()) {
        key.attach(ByteBuffer.allocate(buffer.remaining()).put(buffer).flip());
        key.interestOps(SelectionKey.OP_WRITE);
      }
    }

    private static void hangUp(SelectionKey key) {
      try {
        key.channel().close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
