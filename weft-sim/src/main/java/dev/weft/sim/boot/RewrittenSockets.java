package dev.weft.sim.boot;

import java.io.FileDescriptor;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketOption;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What rewritten classes of {@code sun.nio.ch} call in place of natives. Each method has the name
 * and the type of the native; natives of different classes with the same name share a method. A
 * call is redirected here if its descriptor {@link #isSimulated}, or, where a descriptor is made,
 * if the caller is inside a simulation.
 */
public final class RewrittenSockets {
  /** The lowest number of a simulated descriptor; far above the limits of operating systems. */
  public static final int FIRST = 0x4000_0000;

  private static final AtomicReference<@Nullable SimulatedSockets> SOCKETS =
      new AtomicReference<>();

  private RewrittenSockets() {}

  /** Sets the sockets of the simulation that runs now. */
  public static void enter(SimulatedSockets sockets) {
    SOCKETS.set(sockets);
  }

  /** Ends a simulation, if it is the one with these sockets. */
  public static void leave(@Nullable SimulatedSockets sockets) {
    if (sockets != null) {
      SOCKETS.compareAndSet(sockets, null);
    }
  }

  /** Returns whether a descriptor belongs to a simulation. */
  public static boolean isSimulated(@Nullable FileDescriptor descriptor) {
    SimulatedSockets now = SOCKETS.get();
    return now != null && descriptor != null && now.number(descriptor) >= FIRST;
  }

  /** Returns whether a number of a descriptor belongs to a simulation. */
  public static boolean isSimulated(int number) {
    return number >= FIRST && SOCKETS.get() != null;
  }

  private static SimulatedSockets now() {
    SimulatedSockets now = SOCKETS.get();
    if (now == null) {
      throw new IllegalStateException("the simulation of this socket has ended");
    }
    return now;
  }

  private static int number(FileDescriptor descriptor) {
    return now().number(descriptor);
  }

  // ---- Net ----

  /** {@code Net.socket0}. */
  public static int socket0(boolean ipv6, boolean stream, boolean reuse, boolean loopback)
      throws IOException {
    return now().socket(stream);
  }

  /** {@code Net.bind0}. */
  public static void bind0(
      FileDescriptor socket, boolean ipv6, boolean exclusive, InetAddress address, int port)
      throws IOException {
    now().bind(number(socket), address, port);
  }

  /** {@code Net.listen}. */
  public static void listen(FileDescriptor socket, int backlog) throws IOException {
    now().listen(number(socket), backlog);
  }

  /** {@code Net.connect0}. */
  public static int connect0(boolean ipv6, FileDescriptor socket, InetAddress address, int port)
      throws IOException {
    return now().connect(number(socket), address, port);
  }

  /** {@code Net.pollConnect}. */
  public static boolean pollConnect(FileDescriptor socket, long timeout) throws IOException {
    return now().isConnected(number(socket));
  }

  /** {@code Net.accept}. */
  public static int accept(
      FileDescriptor socket, FileDescriptor accepted, @Nullable InetSocketAddress[] from)
      throws IOException {
    return now().accept(number(socket), accepted, from);
  }

  /** {@code Net.shutdown}. */
  public static void shutdown(FileDescriptor socket, int how) throws IOException {
    now().shutdown(number(socket), how);
  }

  /** {@code Net.localPort}. */
  public static int localPort(FileDescriptor socket) throws IOException {
    return now().localAddress(number(socket)).getPort();
  }

  /** {@code Net.localInetAddress}. */
  public static InetAddress localInetAddress(FileDescriptor socket) throws IOException {
    return now().localAddress(number(socket)).getAddress();
  }

  /** {@code Net.remotePort}. */
  public static int remotePort(FileDescriptor socket) throws IOException {
    return now().remoteAddress(number(socket)).getPort();
  }

  /** {@code Net.remoteInetAddress}. */
  public static InetAddress remoteInetAddress(FileDescriptor socket) throws IOException {
    return now().remoteAddress(number(socket)).getAddress();
  }

  /** {@code Net.getIntOption0}. */
  public static int getIntOption0(FileDescriptor socket, boolean converts, int level, int option)
      throws IOException {
    return now().option(number(socket), level, option);
  }

  /** {@code Net.setIntOption0}. */
  public static void setIntOption0(
      FileDescriptor socket, boolean converts, int level, int option, int value, boolean ipv6)
      throws IOException {
    now().option(number(socket), level, option, value);
  }

  /** {@code ExtendedSocketOptions.getOption}. */
  public static Object getOption(FileDescriptor socket, SocketOption<?> option, boolean ipv6)
      throws IOException {
    Object value = now().option(number(socket), option);
    return value != null ? value : option.type() == Boolean.class ? (Object) false : (Object) 0;
  }

  /** {@code ExtendedSocketOptions.setOption}. */
  public static void setOption(
      FileDescriptor socket, SocketOption<?> option, Object value, boolean ipv6)
      throws IOException {
    now().option(number(socket), option, value);
  }

  /** {@code Net.poll}. */
  public static int poll(FileDescriptor socket, int events, long timeout) {
    return now().ready(number(socket), events);
  }

  /** {@code Net.available}. */
  public static int available(FileDescriptor socket) throws IOException {
    return now().available(number(socket));
  }

  /** {@code Net.sendOOB}: receivers discard urgent data, as without SO_OOBINLINE. */
  public static int sendOOB(FileDescriptor socket, byte data) {
    return 1;
  }

  /** {@code IOUtil.configureBlocking}. */
  public static void configureBlocking(FileDescriptor socket, boolean blocking) {
    // no call of a simulated socket blocks
  }

  // ---- NativeDispatcher, DatagramChannelImpl ----

  /** {@code NativeDispatcher.read}. */
  public static int read(FileDescriptor socket, long address, int length) throws IOException {
    return now().read(number(socket), address, length);
  }

  /** {@code NativeDispatcher.readv}. */
  public static long readv(FileDescriptor socket, long vectors, int count) throws IOException {
    return now().readv(number(socket), vectors, count);
  }

  /** {@code NativeDispatcher.write}. */
  public static int write(FileDescriptor socket, long address, int length) throws IOException {
    return now().write(number(socket), address, length);
  }

  /** {@code NativeDispatcher.writev}. */
  public static long writev(FileDescriptor socket, long vectors, int count) throws IOException {
    return now().writev(number(socket), vectors, count);
  }

  /** {@code NativeDispatcher.preClose}. */
  public static void preClose(FileDescriptor socket, long reader, long writer) {
    now().wake(number(socket));
  }

  /** {@code NativeDispatcher.close}. */
  public static void close(FileDescriptor socket) {
    now().close(number(socket));
  }

  /** {@code DatagramChannelImpl.receive0}. */
  public static int receive0(
      FileDescriptor socket, long address, int length, long sender, boolean connected)
      throws IOException {
    return now().receive(number(socket), address, length, sender, connected);
  }

  /** {@code DatagramChannelImpl.send0}. */
  public static int send0(
      FileDescriptor socket, long address, int length, long target, int targetLength)
      throws IOException {
    return now().send(number(socket), address, length, target);
  }

  /** {@code DatagramChannelImpl.disconnect0}. */
  public static void disconnect0(FileDescriptor socket, boolean ipv6) throws IOException {
    now().disconnect(number(socket));
  }

  // ---- Poller ----

  /** {@code Poller.poll}. */
  public static void poll(int socket, int events, long nanos, BooleanSupplier isOpen) {
    now().poll(socket, events, nanos, isOpen);
  }

  /** {@code Poller.pollSelector}. */
  public static void pollSelector(int selector, long nanos) {
    now().poll(selector, 1, nanos, () -> true);
  }

  /** {@code Poller.stopPoll}. */
  public static void stopPoll(int socket, int events) {
    now().wake(socket);
  }

  /** {@code Poller.stopPoll}. */
  public static void stopPoll(int socket) {
    now().wake(socket);
  }

  // ---- EPoll, EventFD ----

  /** {@code EPoll.create}. */
  public static int create() {
    return now().epollCreate();
  }

  /** {@code EPoll.ctl}. */
  public static int ctl(int selector, int operation, int socket, int events) {
    return now().epollControl(selector, operation, socket, events);
  }

  /** {@code EPoll.wait}. */
  public static int wait(int selector, long address, int most, int timeout) {
    return now().epollWait(selector, address, most);
  }

  /** {@code EventFD.eventfd0}. */
  public static int eventfd0() {
    return now().eventCreate();
  }

  /** {@code EventFD.set0}. */
  public static int set0(int counter) {
    now().eventSet(counter);
    return Long.BYTES;
  }

  /** {@code IOUtil.drain}. */
  public static boolean drain(int counter) {
    return now().eventReset(counter);
  }

  /** {@code FileDispatcherImpl.closeIntFD}. */
  public static void closeIntFD(int number) {
    now().close(number);
  }

  // ---- InetAddress ----

  /** In place of {@code InetAddress.getAllByName0} inside a simulation. */
  public static InetAddress[] resolve(String name) throws IOException {
    return now().resolve(name);
  }

  /** In place of {@code InetAddress.getLocalHost} inside a simulation. */
  public static InetAddress localHost() {
    return now().localHost();
  }

  /** In place of {@code InetAddress.getHostFromNameService} inside a simulation. */
  public static String nameOf(InetAddress address) {
    return now().nameOf(address);
  }
}
