package dev.weft.sim.net;

import dev.weft.internal.net.NetErrors;
import dev.weft.internal.net.NetSocket;
import dev.weft.internal.poller.Poller;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.UnsupportedAddressTypeException;
import org.jspecify.annotations.Nullable;

/**
 * A socket of {@code dev.weft.net} in the simulated network. A change of the socket beneath it is
 * an edge: it makes both directions worth a try.
 */
public final class SimulatedNetSocket extends NetSocket {
  private final Machines machines;
  private final Descriptor socket;
  private final Descriptor.Watcher watcher = () -> onReady(Poller.READ | Poller.WRITE, false);

  private SimulatedNetSocket(Machines machines, Descriptor socket) {
    this.machines = machines;
    this.socket = socket;
    socket.watch(watcher);
  }

  /** Opens a TCP socket for use with the address. */
  public static NetSocket stream(Machines machines, SocketAddress address) throws IOException {
    check(address);
    return new SimulatedNetSocket(machines, new StreamSocket(machines, machines.world.here()));
  }

  /** Opens a UDP socket for use with the address. */
  public static NetSocket datagram(Machines machines, SocketAddress address) throws IOException {
    check(address);
    return new SimulatedNetSocket(machines, new DatagramSocket(machines, machines.world.here()));
  }

  private static InetSocketAddress check(SocketAddress address) throws IOException {
    if (!(address instanceof InetSocketAddress inet)) {
      throw new UnsupportedAddressTypeException();
    }
    if (inet.isUnresolved()) {
      throw new UnknownHostException(
          "cannot use " + address + ": its host name is not known to the name service");
    }
    return inet;
  }

  /** Returns whether an address is one that is not simulated. */
  public static boolean isUnixDomain(SocketAddress address) {
    return address instanceof UnixDomainSocketAddress;
  }

  /** An operation on the socket beneath. */
  private interface Operation<T extends @Nullable Object> {
    T run() throws IOException;
  }

  private <T extends @Nullable Object> T run(Operation<T> operation, String doing)
      throws IOException {
    machines.world.beforeOperation();
    if (isClosed()) {
      throw new ClosedChannelException();
    }
    try {
      return operation.run();
    } catch (IOException e) {
      throw NetErrors.explained(e, doing + " " + this);
    }
  }

  private StreamSocket asStream() {
    return (StreamSocket) socket;
  }

  private DatagramSocket asDatagrams() {
    return (DatagramSocket) socket;
  }

  // ---- trying ----

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    return read(ByteBuffer.wrap(bytes, offset, length));
  }

  @Override
  public int read(ByteBuffer buffer) throws IOException {
    int count = run(() -> asStream().read(buffer), "read from");
    setReady(Poller.READ, count != UNAVAILABLE);
    return count;
  }

  @Override
  public int write(byte[] bytes, int offset, int length) throws IOException {
    return write(ByteBuffer.wrap(bytes, offset, length));
  }

  @Override
  public int write(ByteBuffer buffer) throws IOException {
    int count = run(() -> asStream().write(buffer), "write to");
    setReady(Poller.WRITE, count != UNAVAILABLE);
    return count;
  }

  @Override
  public @Nullable SocketAddress receive(ByteBuffer buffer) throws IOException {
    DatagramSocket.Packet packet = run(() -> asDatagrams().receive(), "receive at");
    setReady(Poller.READ, packet != null);
    if (packet == null) {
      return null;
    }
    buffer.put(packet.bytes(), 0, Math.min(packet.bytes().length, buffer.remaining()));
    return packet.from();
  }

  @Override
  public boolean send(ByteBuffer buffer, SocketAddress target) throws IOException {
    InetSocketAddress to = check(target);
    run(() -> asDatagrams().send(buffer, to), "send to " + target + " by");
    return true;
  }

  @Override
  public void bind(SocketAddress address, int backlog) throws IOException {
    InetSocketAddress at = check(address);
    machines.world.beforeOperation();
    try {
      if (socket instanceof StreamSocket stream) {
        stream.bind(at.getAddress(), at.getPort());
        stream.listen(backlog);
      } else {
        asDatagrams().bind(at.getAddress(), at.getPort());
      }
    } catch (IOException e) {
      throw NetErrors.explained(e, "bind to " + address);
    }
  }

  @Override
  public @Nullable NetSocket accept() throws IOException {
    StreamSocket accepted = run(() -> asStream().accept(), "accept at");
    setReady(Poller.READ, accepted != null);
    return accepted == null ? null : new SimulatedNetSocket(machines, accepted);
  }

  @Override
  public boolean connect(SocketAddress address) throws IOException {
    InetSocketAddress to = check(address);
    setReady(Poller.WRITE, false);
    machines.world.beforeOperation();
    try {
      asStream().connect(to.getAddress(), to.getPort());
    } catch (IOException e) {
      throw NetErrors.explained(e, "connect to " + address);
    }
    return false;
  }

  @Override
  public boolean finishConnect(SocketAddress address) throws IOException {
    machines.world.beforeOperation();
    try {
      boolean connected = asStream().isConnected();
      setReady(Poller.WRITE, connected);
      return connected;
    } catch (IOException e) {
      throw NetErrors.explained(e, "connect to " + address);
    }
  }

  @Override
  public void shutdownOutput() throws IOException {
    asStream().shutdown(false, true);
  }

  @Override
  public void shutdownInput() throws IOException {
    asStream().shutdown(true, false);
  }

  // ---- the rest ----

  @Override
  public <T> void option(SocketOption<T> option, T value) {
    int number = value instanceof Boolean on ? (on ? 1 : 0) : (Integer) value;
    socket.option(Options.SOCKET, Options.number(option), number);
  }

  @Override
  public <T> T option(SocketOption<T> option) {
    int number = socket.option(Options.SOCKET, Options.number(option));
    return option.type().cast(option.type() == Boolean.class ? (Object) (number != 0) : number);
  }

  @Override
  public SocketAddress localAddress() throws IOException {
    checkOpen();
    return local();
  }

  private InetSocketAddress local() {
    return socket instanceof StreamSocket stream
        ? stream.localAddress()
        : asDatagrams().localAddress();
  }

  @Override
  public SocketAddress remoteAddress() throws IOException {
    checkOpen();
    return asStream().remoteAddress();
  }

  @Override
  public void close() {
    if (!isClosed()) {
      machines.world.beforeOperation();
      socket.close();
    }
    socket.unwatch(watcher);
    signalAll();
  }

  @Override
  public boolean isClosed() {
    return socket instanceof StreamSocket stream ? stream.isClosed() : asDatagrams().isClosed();
  }

  @Override
  protected void arm(int direction) {
    // the watcher tells of every change
  }

  @Override
  public String toString() {
    if (isClosed()) {
      return "a closed socket";
    }
    try {
      return String.valueOf(
          socket instanceof StreamSocket stream ? stream.remoteAddress() : local());
    } catch (IOException e) {
      return String.valueOf(local());
    }
  }
}
