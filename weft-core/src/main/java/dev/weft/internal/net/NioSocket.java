package dev.weft.internal.net;

import dev.weft.internal.poller.NioPoller;
import dev.weft.internal.poller.Poller;
import dev.weft.internal.sched.EventWait;
import dev.weft.internal.switching.Pinning;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.NetworkChannel;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A socket that is one of the JDK's channels. Its poller tells by level, and once for each time it
 * is asked: so a direction that is not ready may always be waited for.
 */
final class NioSocket extends NetSocket {
  private final SelectableChannel channel;
  private volatile @Nullable NioPoller poller;
  private volatile @Nullable SelectionKey key;

  private NioSocket(SelectableChannel channel) throws IOException {
    this.channel = channel;
    channel.configureBlocking(false);
  }

  static NioSocket newStream(SocketAddress address) throws IOException {
    checkKind(address, true);
    return new NioSocket(
        address instanceof UnixDomainSocketAddress
            ? SocketChannel.open(StandardProtocolFamily.UNIX)
            : SocketChannel.open());
  }

  static NioSocket newListener(SocketAddress address) throws IOException {
    checkKind(address, true);
    return new NioSocket(
        address instanceof UnixDomainSocketAddress
            ? ServerSocketChannel.open(StandardProtocolFamily.UNIX)
            : ServerSocketChannel.open());
  }

  static NioSocket newDatagram(SocketAddress address) throws IOException {
    checkKind(address, false);
    return new NioSocket(DatagramChannel.open());
  }

  private static void checkKind(SocketAddress address, boolean unixToo)
      throws UnknownHostException {
    if (address instanceof InetSocketAddress inet) {
      if (inet.isUnresolved()) {
        throw new UnknownHostException(
            "cannot use " + address + ": its host name is not known to the name service");
      }
    } else if (!unixToo || !(address instanceof UnixDomainSocketAddress)) {
      throw new UnsupportedAddressTypeException();
    }
  }

  // ---- reading and writing ----

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    return read(ByteBuffer.wrap(bytes, offset, length));
  }

  @Override
  public int read(ByteBuffer buffer) throws IOException {
    if (!readable.isReady()) {
      checkOpen();
      return UNAVAILABLE;
    }
    int room = buffer.remaining();
    readable.set(false);
    try {
      int count = ((SocketChannel) channel).read(buffer);
      if (count < 0 || count == room) {
        readable.set(true);
      }
      return count == 0 ? UNAVAILABLE : count;
    } catch (IOException e) {
      readable.set(true);
      throw NetErrors.explained(e, "read from " + this);
    }
  }

  @Override
  public int write(byte[] bytes, int offset, int length) throws IOException {
    return write(ByteBuffer.wrap(bytes, offset, length));
  }

  @Override
  public int write(ByteBuffer buffer) throws IOException {
    if (!writable.isReady()) {
      checkOpen();
      return UNAVAILABLE;
    }
    writable.set(false);
    try {
      int count = ((SocketChannel) channel).write(buffer);
      if (count > 0) {
        writable.set(true);
      }
      return count == 0 ? UNAVAILABLE : count;
    } catch (IOException e) {
      writable.set(true);
      throw NetErrors.explained(e, "write to " + this);
    }
  }

  @Override
  public @Nullable SocketAddress receive(ByteBuffer buffer) throws IOException {
    if (!readable.isReady()) {
      checkOpen();
      return null;
    }
    readable.set(false);
    SocketAddress sender;
    try {
      sender = ((DatagramChannel) channel).receive(buffer);
    } catch (IOException e) {
      readable.set(true);
      throw NetErrors.explained(e, "receive at " + this);
    }
    if (sender != null) {
      readable.set(true);
    }
    return sender;
  }

  @Override
  public boolean send(ByteBuffer buffer, SocketAddress target) throws IOException {
    if (!writable.isReady()) {
      checkOpen();
      return false;
    }
    checkKind(target, false);
    int length = buffer.remaining();
    writable.set(false);
    try {
      boolean sent = ((DatagramChannel) channel).send(buffer, target) == length;
      if (sent) {
        writable.set(true);
      }
      return sent;
    } catch (IOException e) {
      writable.set(true);
      throw NetErrors.explained(e, "send to " + target);
    }
  }

  // ---- connections ----

  @Override
  public void bind(SocketAddress address, int backlog) throws IOException {
    try {
      switch (channel) {
        case ServerSocketChannel listener -> listener.bind(address, backlog);
        case NetworkChannel other -> other.bind(address);
        default -> throw new AssertionError(channel);
      }
    } catch (IOException e) {
      throw NetErrors.explained(e, "bind to " + address);
    }
  }

  @Override
  public @Nullable NetSocket accept() throws IOException {
    if (!readable.isReady()) {
      checkOpen();
      return null;
    }
    readable.set(false);
    SocketChannel accepted;
    try {
      accepted = ((ServerSocketChannel) channel).accept();
    } catch (IOException e) {
      readable.set(true);
      String message = String.valueOf(e.getMessage()).toLowerCase(Locale.ROOT);
      if (message.contains("too many open files") || message.contains("no buffer space")) {
        NetErrors.Exhausted exhausted =
            new NetErrors.Exhausted("cannot accept at " + this + ": " + e.getMessage());
        exhausted.initCause(e);
        throw exhausted;
      }
      throw NetErrors.explained(e, "accept at " + this);
    }
    if (accepted == null) {
      return null;
    }
    readable.set(true);
    return new NioSocket(accepted);
  }

  @Override
  public boolean connect(SocketAddress address) throws IOException {
    writable.set(false);
    try {
      boolean connected = ((SocketChannel) channel).connect(address);
      if (connected) {
        writable.set(true);
      }
      return connected;
    } catch (IOException e) {
      throw NetErrors.explained(e, "connect to " + address);
    }
  }

  @Override
  public boolean finishConnect(SocketAddress address) throws IOException {
    try {
      boolean connected = ((SocketChannel) channel).finishConnect();
      if (!connected) {
        writable.set(false);
      }
      return connected;
    } catch (IOException e) {
      throw NetErrors.explained(e, "connect to " + address);
    }
  }

  @Override
  public void shutdownOutput() throws IOException {
    ((SocketChannel) channel).shutdownOutput();
  }

  @Override
  public void shutdownInput() throws IOException {
    ((SocketChannel) channel).shutdownInput();
    readable.signal();
  }

  // ---- options and names ----

  @Override
  public <T> void option(SocketOption<T> option, T value) throws IOException {
    if (!(SocketOptions.of(option).ignoredOnUnix() && isUnix())) {
      ((NetworkChannel) channel).setOption(option, value);
    }
  }

  @Override
  public <T> T option(SocketOption<T> option) throws IOException {
    SocketOptions.of(option); // refuses what the other poller does not support
    return ((NetworkChannel) channel).getOption(option);
  }

  private boolean isUnix() throws IOException {
    return ((NetworkChannel) channel).getLocalAddress() instanceof UnixDomainSocketAddress;
  }

  @Override
  public SocketAddress localAddress() throws IOException {
    return ((NetworkChannel) channel).getLocalAddress();
  }

  @Override
  public SocketAddress remoteAddress() throws IOException {
    SocketAddress remote = ((SocketChannel) channel).getRemoteAddress();
    if (remote == null) {
      throw new java.net.SocketException("not connected");
    }
    return remote;
  }

  // ---- life ----

  @Override
  protected void arm(int direction) throws IOException {
    NioPoller at = poller;
    SelectionKey registered = key;
    if (at == null || registered == null || at.isClosed()) {
      synchronized (this) {
        at = poller;
        if (at == null || at.isClosed()) {
          at = (NioPoller) EventWait.poller();
          key = at.add(this, channel);
          poller = at;
        }
        registered = key;
      }
    }
    if (registered != null) {
      at.want(registered, direction);
      if (!registered.isValid() && at.isClosed()) {
        (direction == Poller.READ ? readable : writable).signal(); // to be armed elsewhere
      }
    }
  }

  @Override
  public void close() {
    boolean pinned = Pinning.begin(); // it gives its key back to the selector
    try {
      channel.close();
    } catch (IOException e) {
      // closed all the same
    } finally {
      Pinning.end(pinned);
    }
    NioPoller at = poller;
    if (at != null) {
      at.flush();
    }
    signalAll();
  }

  @Override
  public boolean isClosed() {
    return !channel.isOpen();
  }

  @Override
  public String toString() {
    try {
      return String.valueOf(channel instanceof SocketChannel ? remoteAddress() : localAddress());
    } catch (IOException e) {
      return "a closed socket";
    }
  }
}
