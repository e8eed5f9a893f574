package dev.weft.sim.net;

import dev.weft.sim.boot.RewrittenSockets;
import dev.weft.sim.boot.SimulatedSockets;
import dev.weft.sim.net.JdkDescriptors.EpollEvent;
import java.io.FileDescriptor;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The socket calls of the simulated machines, by the number of a descriptor. Numbers carry the
 * number of the run: a socket that static state has kept from an earlier run is closed. Threads
 * outside the simulation, such as the JDK's cleaner, change nothing.
 */
public final class Kernel implements SimulatedSockets {
  private static final int MOST = 1 << 17;
  private static final int RUNS = 1 << 12;
  private static final int READS = 0;
  private static final int WRITES = 1;
  private static final int DELETE = 2;
  private static final int NO_SUCH = 2;

  private final NetworkWorld world;
  private final Machines machines;
  private final int first;
  private final List<@Nullable Descriptor> open = new ArrayList<>();

  /** Creates the calls of a run. */
  public Kernel(NetworkWorld world, Machines machines, long run) {
    this.world = world;
    this.machines = machines;
    this.first = RewrittenSockets.FIRST + (int) (run % RUNS) * MOST;
  }

  private int add(Descriptor descriptor) {
    if (open.size() == MOST) {
      throw new IllegalStateException("a run may open " + MOST + " sockets, not more");
    }
    open.add(descriptor);
    return first + open.size() - 1;
  }

  private @Nullable Descriptor find(int number) {
    world.beforeOperation();
    int index = number - first;
    return index >= 0 && index < open.size() ? open.get(index) : null;
  }

  private <T extends Descriptor> T get(int number, Class<T> type) throws IOException {
    Descriptor found = find(number);
    if (found == null) {
      throw new SocketException("Socket closed");
    }
    if (!type.isInstance(found)) {
      throw new SocketException("Operation not supported");
    }
    return type.cast(found);
  }

  @Override
  public int number(FileDescriptor descriptor) {
    return JdkDescriptors.number(descriptor);
  }

  // ---- opening and closing ----

  @Override
  public int socket(boolean stream) {
    world.beforeOperation();
    Machine here = world.here();
    return add(stream ? new StreamSocket(machines, here) : new DatagramSocket(machines, here));
  }

  @Override
  public void bind(int socket, InetAddress address, int port) throws IOException {
    if (get(socket, Descriptor.class) instanceof StreamSocket stream) {
      stream.bind(address, port);
    } else {
      get(socket, DatagramSocket.class).bind(address, port);
    }
  }

  @Override
  public void wake(int socket) {
    if (world.inside()) {
      Descriptor found = find(socket);
      if (found != null) {
        found.wake();
      }
    }
  }

  @Override
  public void close(int number) {
    if (world.inside()) {
      Descriptor found = find(number);
      if (found != null) {
        open.set(number - first, null);
        found.close();
        found.wake();
      }
    }
  }

  // ---- connections ----

  @Override
  public void listen(int socket, int backlog) throws IOException {
    get(socket, StreamSocket.class).listen(backlog);
  }

  @Override
  public int connect(int socket, InetAddress address, int port) throws IOException {
    if (get(socket, Descriptor.class) instanceof StreamSocket stream) {
      stream.connect(address, port);
      return Descriptor.UNAVAILABLE;
    }
    get(socket, DatagramSocket.class).connect(address, port);
    return 1;
  }

  @Override
  public boolean isConnected(int socket) throws IOException {
    return get(socket, StreamSocket.class).isConnected();
  }

  @Override
  public int accept(int socket, FileDescriptor accepted, @Nullable InetSocketAddress[] from)
      throws IOException {
    StreamSocket connection = get(socket, StreamSocket.class).accept();
    if (connection == null) {
      return Descriptor.UNAVAILABLE;
    }
    JdkDescriptors.number(accepted, add(connection));
    from[0] = connection.remoteAddress();
    return 1;
  }

  @Override
  public void shutdown(int socket, int how) throws IOException {
    get(socket, StreamSocket.class).shutdown(how != WRITES, how != READS);
  }

  // ---- names and options ----

  @Override
  public InetSocketAddress localAddress(int socket) throws IOException {
    return get(socket, Descriptor.class) instanceof StreamSocket stream
        ? stream.localAddress()
        : get(socket, DatagramSocket.class).localAddress();
  }

  @Override
  public InetSocketAddress remoteAddress(int socket) throws IOException {
    return get(socket, Descriptor.class) instanceof StreamSocket stream
        ? stream.remoteAddress()
        : get(socket, DatagramSocket.class).remoteAddress();
  }

  @Override
  public int option(int socket, int level, int option) throws IOException {
    return get(socket, Descriptor.class).option(level, option);
  }

  @Override
  public void option(int socket, int level, int option, int value) throws IOException {
    get(socket, Descriptor.class).option(level, option, value);
  }

  @Override
  public @Nullable Object option(int socket, SocketOption<?> option) throws IOException {
    return get(socket, Descriptor.class).option(option);
  }

  @Override
  public void option(int socket, SocketOption<?> option, Object value) throws IOException {
    get(socket, Descriptor.class).option(option, value);
  }

  @Override
  public InetAddress[] resolve(String name) throws IOException {
    return machines.resolve(name);
  }

  @Override
  public InetAddress localHost() {
    return world.here().address();
  }

  @Override
  public String nameOf(InetAddress address) {
    return machines.nameOf(address);
  }

  // ---- reading and writing ----

  @Override
  public int available(int socket) throws IOException {
    return get(socket, Descriptor.class) instanceof StreamSocket stream
        ? stream.available()
        : get(socket, DatagramSocket.class).available();
  }

  @Override
  public int read(int socket, long address, int length) throws IOException {
    return (int) read(socket, NativeMemory.at(address, length));
  }

  @Override
  public long readv(int socket, long vectors, int count) throws IOException {
    return read(socket, NativeMemory.vectors(vectors, count));
  }

  private long read(int socket, ByteBuffer... targets) throws IOException {
    if (get(socket, Descriptor.class) instanceof DatagramSocket datagrams) {
      DatagramSocket.Packet packet = datagrams.receive();
      return packet == null ? Descriptor.UNAVAILABLE : copy(packet.bytes(), targets);
    }
    StreamSocket stream = get(socket, StreamSocket.class);
    long sum = 0;
    for (ByteBuffer target : targets) {
      if (sum > 0 && stream.available() == 0) {
        break;
      }
      int count = stream.read(target);
      if (count < 0) {
        return count;
      }
      sum += count;
      if (target.hasRemaining()) {
        break;
      }
    }
    return sum;
  }

  private static int copy(byte[] bytes, ByteBuffer... targets) {
    int at = 0;
    for (ByteBuffer target : targets) {
      int length = Math.min(target.remaining(), bytes.length - at);
      target.put(bytes, at, length);
      at += length;
    }
    return at; // what does not fit is lost
  }

  @Override
  public int write(int socket, long address, int length) throws IOException {
    return (int) write(socket, NativeMemory.at(address, length));
  }

  @Override
  public long writev(int socket, long vectors, int count) throws IOException {
    return write(socket, NativeMemory.vectors(vectors, count));
  }

  private long write(int socket, ByteBuffer... sources) throws IOException {
    if (get(socket, Descriptor.class) instanceof DatagramSocket datagrams) {
      return datagrams.send(joined(sources), null);
    }
    StreamSocket stream = get(socket, StreamSocket.class);
    long sum = 0;
    for (ByteBuffer source : sources) {
      if (sum > 0 && (stream.ready() & Descriptor.OUT) == 0) {
        break;
      }
      int count = source.hasRemaining() ? stream.write(source) : 0;
      if (count < 0) {
        return sum > 0 ? sum : count;
      }
      sum += count;
      if (source.hasRemaining()) {
        break;
      }
    }
    return sum;
  }

  private static ByteBuffer joined(ByteBuffer... sources) {
    int size = 0;
    for (ByteBuffer source : sources) {
      size += source.remaining();
    }
    ByteBuffer all = ByteBuffer.allocate(size);
    for (ByteBuffer source : sources) {
      all.put(source);
    }
    return all.flip();
  }

  @Override
  public int receive(int socket, long address, int length, long sender, boolean connected)
      throws IOException {
    DatagramSocket.Packet packet = get(socket, DatagramSocket.class).receive();
    if (packet == null) {
      return Descriptor.UNAVAILABLE;
    }
    NativeMemory.writeAddress(sender, packet.from());
    return copy(packet.bytes(), NativeMemory.at(address, length));
  }

  @Override
  public int send(int socket, long address, int length, long target) throws IOException {
    return get(socket, DatagramSocket.class)
        .send(
            NativeMemory.at(address, length),
            target == 0 ? null : NativeMemory.readAddress(target));
  }

  @Override
  public void disconnect(int socket) throws IOException {
    get(socket, DatagramSocket.class).disconnect();
  }

  // ---- waiting ----

  @Override
  public int ready(int socket, int events) {
    Descriptor found = find(socket);
    return found == null ? 0 : found.ready() & (events | Descriptor.ERROR | Descriptor.HANGUP);
  }

  @Override
  public void poll(int socket, int events, long nanos, BooleanSupplier isOpen) {
    Descriptor found = find(socket);
    if (found != null && ready(socket, events) == 0 && isOpen.getAsBoolean()) {
      world.aroundWait();
      found.await(events, nanos);
      world.aroundWait();
    }
  }

  @Override
  public int epollCreate() {
    world.beforeOperation();
    return add(new EventSet(machines, world.here()));
  }

  @Override
  public int epollControl(int selector, int operation, int socket, int events) {
    Descriptor found = find(socket);
    if (!(find(selector) instanceof EventSet set)) {
      return NO_SUCH;
    }
    if (operation == DELETE) {
      set.remove(socket);
    } else if (found != null) {
      set.put(socket, found, events);
    }
    return found == null ? NO_SUCH : 0;
  }

  @Override
  public int epollWait(int selector, long address, int most) {
    if (!(find(selector) instanceof EventSet set)) {
      return 0;
    }
    List<EventSet.Ready> events = set.events(most);
    ByteBuffer array = NativeMemory.at(address, most * EpollEvent.SIZE);
    for (int i = 0; i < events.size(); i++) {
      array.putInt(i * EpollEvent.SIZE + EpollEvent.EVENTS, events.get(i).events());
      array.putInt(i * EpollEvent.SIZE + EpollEvent.NUMBER, events.get(i).number());
    }
    return events.size();
  }

  @Override
  public int eventCreate() {
    world.beforeOperation();
    return add(new EventCounter(machines, world.here()));
  }

  @Override
  public void eventSet(int counter) {
    if (world.inside() && find(counter) instanceof EventCounter found) {
      found.set();
    }
  }

  @Override
  public boolean eventReset(int counter) {
    return find(counter) instanceof EventCounter found && found.reset();
  }
}
