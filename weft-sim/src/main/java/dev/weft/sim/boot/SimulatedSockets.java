package dev.weft.sim.boot;

import java.io.FileDescriptor;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketOption;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The socket calls of an operating system, as {@code sun.nio.ch} makes them, and name look-ups.
 * Implemented by the simulation; called by {@link RewrittenSockets}. Sockets, selectors and event
 * counters have numbers from {@link RewrittenSockets#FIRST} on, which no descriptor of the machine
 * has. Results follow {@code sun.nio.ch.IOStatus}: -1 at the end, -2 if nothing can be done now.
 */
public interface SimulatedSockets {
  /** Returns the number in a descriptor. */
  int number(FileDescriptor descriptor);

  /** Opens a socket, for streams or for datagrams; returns its number. */
  int socket(boolean stream) throws IOException;

  /** Binds a socket to an address; port 0 takes a free port. */
  void bind(int socket, InetAddress address, int port) throws IOException;

  /** Begins to listen. */
  void listen(int socket, int backlog) throws IOException;

  /** Begins to connect; returns 1 if that is done, else -2. */
  int connect(int socket, InetAddress address, int port) throws IOException;

  /** Returns whether a connection has been made; throws if it has failed. */
  boolean isConnected(int socket) throws IOException;

  /** Puts the next connection into a descriptor and its address into the array; 1 or -2. */
  int accept(int socket, FileDescriptor accepted, @Nullable InetSocketAddress[] from)
      throws IOException;

  /** Ends reading (0), writing (1) or both (2). */
  void shutdown(int socket, int how) throws IOException;

  /** Returns where the socket is bound. */
  InetSocketAddress localAddress(int socket) throws IOException;

  /** Returns the other end. */
  InetSocketAddress remoteAddress(int socket) throws IOException;

  /** Returns an option, by the level and the number of the operating system. */
  int option(int socket, int level, int option) throws IOException;

  /** Sets an option. */
  void option(int socket, int level, int option, int value) throws IOException;

  /** Returns an option of this operating system only; null if it was not set. */
  @Nullable Object option(int socket, SocketOption<?> option) throws IOException;

  /** Sets an option of this operating system only. */
  void option(int socket, SocketOption<?> option, Object value) throws IOException;

  /** Returns which of the events, as of poll(2), are there now. */
  int ready(int socket, int events);

  /** Returns how many bytes can be read. */
  int available(int socket) throws IOException;

  /** Reads into memory. */
  int read(int socket, long address, int length) throws IOException;

  /** Reads into the memory that an array of iovec describes. */
  long readv(int socket, long vectors, int count) throws IOException;

  /** Writes from memory. */
  int write(int socket, long address, int length) throws IOException;

  /** Writes from the memory that an array of iovec describes. */
  long writev(int socket, long vectors, int count) throws IOException;

  /** Receives a datagram, and where it came from as a sockaddr. */
  int receive(int socket, long address, int length, long sender, boolean connected)
      throws IOException;

  /** Sends a datagram to a sockaddr; 0: to the address that the socket is connected to. */
  int send(int socket, long address, int length, long target) throws IOException;

  /** Ends the association of a datagram socket. */
  void disconnect(int socket) throws IOException;

  /** Wakes all that wait for the socket. */
  void wake(int socket);

  /** Closes a socket, a selector or an event counter. */
  void close(int number);

  /** Parks until the events are there, a wake, an interrupt or the end of the time; 0: for ever. */
  void poll(int socket, int events, long nanos, BooleanSupplier isOpen);

  /** Opens a selector. */
  int epollCreate();

  /** Changes what a selector looks at; returns 0 or an error number. */
  int epollControl(int selector, int operation, int socket, int events);

  /** Puts events that are there into an array of epoll_event; returns how many. */
  int epollWait(int selector, long address, int most);

  /** Opens an event counter. */
  int eventCreate();

  /** Adds to an event counter. */
  void eventSet(int counter);

  /** Sets an event counter to 0; returns whether it was more. */
  boolean eventReset(int counter);

  /** Returns the addresses of a host name. */
  InetAddress[] resolve(String name) throws IOException;

  /** Returns the address of the current host. */
  InetAddress localHost();

  /** Returns the name of the host with this address, or the address as text. */
  String nameOf(InetAddress address);
}
