package dev.weft.sim.net;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * A TCP socket.
 *
 * <pre>
 *   NEW ──► LISTENING                                             listen
 *   NEW ──► CONNECTING ──► CONNECTED                              the request and its answer arrive
 *               └───────────┴──► FAILED                           refused, reset, timed out
 *   any ──► CLOSED                                                close, or a crash of the machine
 * </pre>
 *
 * <p>Errors have the texts of Linux, as the JDK shows them.
 */
final class StreamSocket extends Descriptor {
  private enum State {
    NEW,
    LISTENING,
    CONNECTING,
    CONNECTED,
    FAILED,
    CLOSED
  }

  /** For how long Linux tries to connect by default (tcp_syn_retries). */
  private static final long CONNECT_NANOS = 127_000_000_000L;

  /** After how long a request to connect is repeated if the backlog was full. */
  private static final long AGAIN_NANOS = 1_000_000_000L;

  private State state = State.NEW;
  private @Nullable InetSocketAddress local;
  private @Nullable InetSocketAddress remote;
  private boolean gone;

  // listening
  private final ArrayDeque<StreamSocket> backlog = new ArrayDeque<>();
  private int mostInBacklog;

  // connected
  private @Nullable Flow in;
  private @Nullable Flow out;
  private boolean inputShut;
  private boolean outputShut;

  // failed
  private String failure = "";
  private boolean failureReported;
  private NetworkWorld.@Nullable Event connectTimeout;

  StreamSocket(Machines machines, Machine machine) {
    super(machines, machine);
  }

  boolean isClosed() {
    return state == State.CLOSED;
  }

  boolean hasFailed() {
    return state == State.FAILED;
  }

  /** Returns whether its machine has crashed since. */
  boolean isGone() {
    return gone;
  }

  // ---- listening ----

  void bind(InetAddress address, int port) throws IOException {
    checkOpen();
    if (local != null) {
      throw new SocketException("Invalid argument");
    }
    local = bind(address, port, true);
  }

  void listen(int most) throws IOException {
    checkOpen();
    if (local == null) {
      bind(new InetSocketAddress(0).getAddress(), 0);
    }
    state = State.LISTENING;
    mostInBacklog = most < 1 ? 50 : most;
  }

  /** Returns the next connection, or null. */
  @Nullable StreamSocket accept() throws IOException {
    checkOpen();
    if (state != State.LISTENING) {
      throw new SocketException("Invalid argument");
    }
    return backlog.poll();
  }

  // ---- connecting ----

  /** Begins to connect. */
  void connect(InetAddress address, int port) throws IOException {
    checkOpen();
    if (state != State.NEW) {
      throw new SocketException(
          state == State.CONNECTING ? "Operation already in progress" : "Already connected");
    }
    Machine target = machines.machineAt(machine, address);
    if (target == null) {
      throw new ConnectException("Network is unreachable");
    }
    if (local == null) {
      local = bind(addressTowards(address), 0, true);
    }
    InetAddress seen = address.isAnyLocalAddress() ? InetAddress.getLoopbackAddress() : address;
    remote = new InetSocketAddress(seen, port);
    state = State.CONNECTING;
    NetworkWorld world = machines.world;
    Path path = world.path(machine, target);
    SplittableRandom random = machines.randomOf(machine, target, port);
    connectTimeout = world.at(world.now() + CONNECT_NANOS, () -> fail("Connection timed out"));
    Transit.send(world, path, random, () -> requestArrives(target, path, random));
  }

  private void requestArrives(Machine target, Path path, SplittableRandom random) {
    NetworkWorld world = machines.world;
    if (state != State.CONNECTING || remote == null || local == null) {
      return;
    }
    if (!target.isUp() && path.isSilent(random)) {
      return;
    }
    if (!(target.at(remote.getPort(), true) instanceof StreamSocket listener)
        || listener.state != State.LISTENING
        || path.refuses(random)) {
      Transit.send(world, path, random, () -> fail("Connection refused"));
      return;
    }
    if (listener.backlog.size() >= listener.mostInBacklog) {
      world.at(
          world.now() + AGAIN_NANOS,
          () -> Transit.send(world, path, random, () -> requestArrives(target, path, random)));
      return;
    }
    StreamSocket other = new StreamSocket(machines, target);
    other.local = remote;
    other.remote = new InetSocketAddress(addressTowards(remote.getAddress()), local.getPort());
    SplittableRandom randomBack = random.split();
    long due = Transit.send(world, path, randomBack, () -> answerArrives(other));
    Flow there = new Flow(this, other, path, random, world.now());
    Flow back = new Flow(other, this, path, randomBack, due);
    in = back;
    out = there;
    other.in = there;
    other.out = back;
    other.state = State.CONNECTED;
    listener.backlog.add(other);
    listener.changed();
  }

  private void answerArrives(StreamSocket other) {
    if (state == State.CONNECTING) {
      state = State.CONNECTED;
      endConnecting();
      changed();
    } else if (!other.isClosed() && out != null) {
      out.sendReset(); // closed meanwhile
    }
  }

  private void endConnecting() {
    if (connectTimeout != null) {
      connectTimeout.cancel();
      connectTimeout = null;
    }
  }

  /** Returns whether the connection has been made; throws if it has failed. */
  boolean isConnected() throws IOException {
    checkOpen();
    if (state == State.FAILED && !failureReported) {
      failureReported = true;
      throw new ConnectException(failure);
    }
    return state == State.CONNECTED;
  }

  /** Ends a connection, or an attempt, with an error. */
  void fail(String text) {
    if (state == State.CONNECTING || state == State.CONNECTED) {
      endConnecting();
      state = State.FAILED;
      failure = text;
      changed();
    }
  }

  // ---- reading and writing ----

  /** Returns how much was read, END or UNAVAILABLE. */
  int read(ByteBuffer target) throws IOException {
    checkOpen();
    if (in == null) {
      throw new SocketException("Socket is not connected");
    }
    if (inputShut) {
      return END;
    }
    int count = in.read(target);
    if (count > 0) {
      return count;
    }
    if (state == State.FAILED) {
      failureReported = true;
      throw new SocketException(failure);
    }
    return in.isEnded() ? END : UNAVAILABLE;
  }

  int available() throws IOException {
    checkOpen();
    return in == null || inputShut ? 0 : in.available();
  }

  /** Returns how much was written, or UNAVAILABLE. */
  int write(ByteBuffer source) throws IOException {
    checkOpen();
    if (out == null || outputShut) {
      throw new SocketException("Broken pipe");
    }
    if (state == State.FAILED) {
      String text = failureReported ? "Broken pipe" : failure;
      failureReported = true;
      throw new SocketException(text);
    }
    return out.room() == 0 ? UNAVAILABLE : out.send(source);
  }

  void shutdown(boolean input, boolean output) throws IOException {
    checkOpen();
    if (state != State.CONNECTED && state != State.FAILED) {
      throw new SocketException("Transport endpoint is not connected");
    }
    inputShut |= input;
    if (output && !outputShut && out != null) {
      outputShut = true;
      out.sendEnd();
    }
    changed();
  }

  // ---- the rest ----

  @Override
  int ready() {
    return switch (state) {
      case NEW, CONNECTING -> 0;
      case LISTENING -> backlog.isEmpty() ? 0 : IN;
      case FAILED -> IN | OUT | ERROR | HANGUP;
      case CLOSED -> IN | OUT | HANGUP;
      case CONNECTED -> {
        boolean readable = in != null && (in.available() > 0 || in.isEnded());
        boolean writable = out != null && out.room() > 0;
        yield (readable || inputShut ? IN : 0) | (writable || outputShut ? OUT : 0);
      }
    };
  }

  @Override
  void close() {
    if (state == State.CLOSED) {
      return;
    }
    endConnecting();
    if (state == State.CONNECTED && in != null && out != null) {
      if (in.available() > 0 || option(Options.SOCKET, Options.LINGER) == 0) {
        out.sendReset(); // as Linux does if bytes have not been read
      } else if (!outputShut) {
        out.sendEnd();
      }
    }
    state = State.CLOSED;
    for (StreamSocket waiting : backlog) {
      if (waiting.out != null) {
        waiting.out.sendReset();
      }
      waiting.state = State.CLOSED;
      waiting.machine.closed(waiting);
    }
    backlog.clear();
    machine.closed(this);
    changed();
  }

  @Override
  void crash() {
    gone = true;
    endConnecting();
    if (state == State.CONNECTED && out != null) {
      out.sendCrash();
    }
    state = State.CLOSED;
  }

  private void checkOpen() throws SocketException {
    if (state == State.CLOSED) {
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
