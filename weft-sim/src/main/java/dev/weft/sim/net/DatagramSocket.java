package dev.weft.sim.net;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** A UDP socket. Datagrams may be lost, and overtake each other; a full queue drops them. */
final class DatagramSocket extends Descriptor {
  private static final int MOST_BYTES = 65_507;
  private static final int MOST_IN_QUEUE = 256;

  /** A datagram that has arrived. */
  @SuppressWarnings("ArrayRecordComponent") // packets are not compared
  record Packet(InetSocketAddress from, byte[] bytes) {}

  private final ArrayDeque<Packet> arrived = new ArrayDeque<>();
  private final Map<Machine, SplittableRandom> randoms = new HashMap<>();

  // the numbers of the datagrams that are under way to each target
  private final Map<InetSocketAddress, TreeSet<Long>> underWay = new HashMap<>();
  private @Nullable InetSocketAddress local;
  private @Nullable InetSocketAddress remote;
  private long sent;
  private boolean closed;

  DatagramSocket(Machines machines, Machine machine) {
    super(machines, machine);
  }

  boolean isClosed() {
    return closed;
  }

  void bind(InetAddress address, int port) throws IOException {
    checkOpen();
    if (local != null && local.getPort() != port) {
      throw new SocketException("Invalid argument");
    }
    if (local == null) {
      local = bind(address, port, false);
    }
  }

  private InetSocketAddress bound() throws IOException {
    if (local == null) {
      local = bind(new InetSocketAddress(0).getAddress(), 0, false);
    }
    return local;
  }

  /** Sends to one address only, and receives from it only. */
  void connect(InetAddress address, int port) throws IOException {
    checkOpen();
    bound();
    remote = new InetSocketAddress(address, port);
  }

  void disconnect() {
    remote = null;
  }

  /** Sends a datagram; null: to where the socket is connected. */
  int send(ByteBuffer source, @Nullable InetSocketAddress given) throws IOException {
    checkOpen();
    InetSocketAddress target = given == null ? remote : given;
    if (target == null) {
      throw new SocketException("Destination address required");
    }
    if (source.remaining() > MOST_BYTES) {
      throw new SocketException("Message too long");
    }
    Machine other = machines.machineAt(machine, target.getAddress());
    if (other == null) {
      throw new SocketException("Network is unreachable");
    }
    byte[] bytes = new byte[source.remaining()];
    source.get(bytes);
    InetSocketAddress from =
        new InetSocketAddress(addressTowards(target.getAddress()), bound().getPort());
    NetworkWorld world = machines.world;
    Path path = world.path(machine, other);
    SplittableRandom random =
        randoms.computeIfAbsent(other, to -> machines.randomOf(machine, to, -target.getPort()));
    long delay = path.delay(random);
    if (!path.loses(random)) {
      Long number = sent++;
      TreeSet<Long> numbers = underWay.computeIfAbsent(target, to -> new TreeSet<>());
      numbers.add(number);
      world.at(
          world.now() + delay,
          () -> {
            boolean overtakes = !numbers.first().equals(number);
            numbers.remove(number);
            if (path.isCut()) {
              path.swallow();
            } else if (other.isUp()
                && other.at(target.getPort(), false) instanceof DatagramSocket receiver) {
              if (overtakes) {
                path.reorder();
              }
              receiver.arrives(new Packet(from, bytes));
            }
          });
    }
    return bytes.length;
  }

  private void arrives(Packet packet) {
    if (arrived.size() < MOST_IN_QUEUE && (remote == null || remote.equals(packet.from))) {
      arrived.add(packet);
      changed();
    }
  }

  /** Returns the next datagram, or null. */
  @Nullable Packet receive() throws IOException {
    checkOpen();
    return arrived.poll();
  }

  int available() {
    Packet next = arrived.peek();
    return next == null ? 0 : next.bytes.length;
  }

  @Override
  int ready() {
    return closed ? IN | OUT | HANGUP : arrived.isEmpty() ? OUT : IN | OUT;
  }

  @Override
  void close() {
    if (!closed) {
      closed = true;
      machine.closed(this);
      changed();
    }
  }

  @Override
  void crash() {
    closed = true;
  }

  private void checkOpen() throws SocketException {
    if (closed) {
      throw new SocketException("Socket closed");
    }
  }

  InetSocketAddress localAddress() {
    return local == null ? new InetSocketAddress(0) : local;
  }

  InetSocketAddress remoteAddress() throws IOException {
    if (remote == null) {
      throw new SocketException("Transport endpoint is not connected");
    }
    return remote;
  }
}
