package dev.weft.net;

import dev.weft.internal.net.Limits;
import dev.weft.internal.net.NetSocket;
import dev.weft.internal.net.Turns;
import dev.weft.internal.poller.Poller;
import dev.weft.sync.Mutex;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A datagram socket, in blocking style.
 *
 * {@snippet class="dev.weft.net.NetSnippetsTest" region="udp"}
 *
 * <p>Waits can be cancelled, limited and ended by {@link #close} as those of {@link TcpStream} can.
 */
public final class UdpSocket implements AutoCloseable {
  private final NetSocket socket;
  private final Mutex receiving = Mutex.fair();
  private final Mutex sending = Mutex.fair();
  private volatile @Nullable Duration receiveTimeout;

  private UdpSocket(NetSocket socket) {
    this.socket = socket;
  }

  /**
   * Opens a socket at an address; port 0 takes a free one.
   *
   * @throws java.net.BindException if it is in use, or not one of this machine's
   */
  public static UdpSocket bind(SocketAddress address) throws IOException {
    Objects.requireNonNull(address, "address");
    NetSocket socket = NetSocket.openDatagram(address);
    boolean bound = false;
    try {
      socket.bind(address, 0);
      bound = true;
      return new UdpSocket(socket);
    } finally {
      if (!bound) {
        socket.close();
      }
    }
  }

  /** Opens a socket at a free port, for sending and for the answers. */
  public static UdpSocket open() throws IOException {
    return bind(new InetSocketAddress(0));
  }

  /**
   * Waits for a datagram and puts it into the buffer; what does not fit is lost. Returns where it
   * came from.
   *
   * @throws java.net.SocketTimeoutException if there is none within the timeout
   */
  public SocketAddress receive(ByteBuffer buffer) throws IOException {
    if (buffer.isReadOnly()) {
      throw new IllegalArgumentException("cannot receive into a read-only buffer");
    }
    SocketAddress sender;
    Turns.await(receiving, socket, "receive at");
    try {
      for (sender = socket.receive(buffer); sender == null; sender = socket.receive(buffer)) {
        socket.await(Poller.READ, receiveTimeout, "receive at");
      }
    } finally {
      receiving.unlock();
    }
    socket.yieldAfterStreak();
    return sender;
  }

  /** Sends what remains of the buffer as one datagram. */
  public void send(ByteBuffer buffer, SocketAddress target) throws IOException {
    Objects.requireNonNull(target, "target");
    Turns.await(sending, socket, "send by");
    try {
      while (!socket.send(buffer, target)) {
        socket.await(Poller.WRITE, null, "send by");
      }
    } finally {
      sending.unlock();
    }
    socket.yieldAfterStreak();
  }

  /** Limits each wait for a datagram; zero is none. */
  public void receiveTimeout(Duration limit) {
    receiveTimeout = Limits.of(limit);
  }

  /** Returns where it is bound. */
  public SocketAddress localAddress() throws IOException {
    return socket.localAddress();
  }

  /** Sets an option, as {@code StandardSocketOptions.SO_RCVBUF}. */
  public <T> void option(SocketOption<T> option, T value) throws IOException {
    socket.option(option, Objects.requireNonNull(value, "value"));
  }

  /** Returns the value of an option. */
  public <T> T option(SocketOption<T> option) throws IOException {
    return socket.option(option);
  }

  /** Returns whether it has not been closed. */
  public boolean isOpen() {
    return !socket.isClosed();
  }

  /** Closes it and wakes all that wait for it. */
  @Override
  public void close() {
    socket.close();
  }

  @Override
  public String toString() {
    return "UdpSocket " + socket;
  }
}
