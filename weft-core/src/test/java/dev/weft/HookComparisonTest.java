package dev.weft;

import static dev.weft.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Exchanger;
import java.util.concurrent.Phaser;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Runs each case on a platform thread, on a plain virtual thread and on a fiber, hooked and not:
 * results, exceptions and the interrupt status afterwards are the same.
 */
@Feature("H4")
@DisabledIfSystemProperty(named = "weft.poller", matches = "nio")
@SuppressWarnings("try") // any exception of close() is a failure of the test
class HookComparisonTest {
  /** What a case may do to the thread once it waits. */
  enum Disturbance {
    NONE,
    INTERRUPT,
    CLOSE,
    /** The peer does what the case says. */
    PEER
  }

  /** A blocking call; its result is compared as text. */
  interface Call {
    Object run(Stage stage) throws Exception;
  }

  /**
   * One row of the table.
   *
   * @param sameOnPlatformThreads false where the JDK itself differs: an interrupt closes the socket
   *     of a virtual thread, but not the socket of a platform thread, and has another message in
   *     sleep
   */
  record Case(String name, Disturbance disturbance, boolean sameOnPlatformThreads, Call call) {
    @Override
    public String toString() {
      return name;
    }
  }

  /** The objects of a case: made anew for each run. */
  static final class Stage implements AutoCloseable {
    final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    final List<AutoCloseable> opened = new ArrayList<>(List.of(listener));
    volatile AutoCloseable target = () -> {};
    volatile AutoCloseable peerAction = () -> {};

    // true once the call is about to wait
    volatile boolean begun;

    Stage() throws IOException {}

    <T extends AutoCloseable> T open(T resource) {
      opened.add(resource);
      return resource;
    }

    /** Sets the object that CLOSE closes; the call follows. */
    <T extends AutoCloseable> T await(T resource) {
      target = resource;
      begun = true;
      return resource;
    }

    SocketAddress address() {
      return listener.getLocalSocketAddress();
    }

    Socket connected() throws IOException {
      Socket socket = open(new Socket(listener.getInetAddress(), listener.getLocalPort()));
      Socket peer = open(listener.accept());
      peerAction = peer;
      return socket;
    }

    Socket connectedToOneThatResets() throws IOException {
      Socket socket = connected();
      Socket peer = (Socket) peerAction;
      peerAction =
          () -> {
            peer.setSoLinger(true, 0);
            peer.close();
          };
      return socket;
    }

    SocketChannel connectedChannel() throws IOException {
      SocketChannel channel = open(SocketChannel.open(address()));
      peerAction = open(listener.accept());
      return channel;
    }

    @Override
    public void close() throws Exception {
      for (AutoCloseable resource : opened.reversed()) {
        resource.close();
      }
    }
  }

  private static SocketAddress anyPort() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  }

  static Stream<Case> cases() {
    return Stream.of(
        // ---- limits
        same("read times out", stage -> timedRead(stage, 15)),
        same("read times out again and again", HookComparisonTest::timedReads),
        same(
            "accept times out",
            stage -> {
              stage.listener.setSoTimeout(15);
              return stage.listener.accept();
            }),
        same(
            "connect to a full backlog times out",
            stage -> {
              ServerSocket full =
                  stage.open(new ServerSocket(0, 1, stage.listener.getInetAddress()));
              for (int i = 0; i < 8; i++) {
                Socket socket = stage.open(new Socket());
                try {
                  socket.connect(full.getLocalSocketAddress(), 25);
                } catch (java.net.SocketTimeoutException e) {
                  return e.getMessage();
                }
              }
              return "never full";
            }),
        same(
            "receive times out",
            stage -> {
              DatagramSocket socket = stage.open(new DatagramSocket(anyPort()));
              socket.setSoTimeout(15);
              socket.receive(new DatagramPacket(new byte[1], 1));
              return "received";
            }),
        same(
            "a socket over a channel times out",
            stage -> {
              Socket socket = stage.connectedChannel().socket();
              socket.setSoTimeout(15);
              return socket.getInputStream().read();
            }),
        same("poll of a queue times out", stage -> pollQueue(1)),
        same("tryLock times out", stage -> tryLock(1)),
        same(
            "a future times out", stage -> new CompletableFuture<>().get(5, TimeUnit.MILLISECONDS)),
        same("a latch times out", stage -> new CountDownLatch(1).await(5, TimeUnit.MILLISECONDS)),
        same("a barrier times out", stage -> new CyclicBarrier(2).await(5, TimeUnit.MILLISECONDS)),
        same(
            "an exchange times out",
            stage -> new Exchanger<String>().exchange("", 5, TimeUnit.MILLISECONDS)),
        same(
            "a phaser times out",
            stage -> new Phaser(2).awaitAdvanceInterruptibly(0, 5, TimeUnit.MILLISECONDS)),
        same("a monitor times out", stage -> waitOnMonitor(5)),
        same(
            "a hand-over times out",
            stage -> new SynchronousQueue<>().offer("", 5, TimeUnit.MILLISECONDS)),
        same(
            "a park times out",
            stage -> {
              LockSupport.parkNanos(1_000_000);
              return "on";
            }),
        same(
            "sleep lasts",
            stage -> {
              long start = System.nanoTime();
              Thread.sleep(10);
              return System.nanoTime() - start >= 10_000_000;
            }),
        // ---- the peer
        same(Disturbance.PEER, "the end of the stream", stage -> read(stage, stage.connected())),
        same(
            Disturbance.PEER,
            "a reset",
            stage -> {
              Socket socket = stage.connectedToOneThatResets();
              return read(stage, socket);
            }),
        same(
            Disturbance.PEER,
            "bytes",
            stage -> {
              Socket socket = stage.connected();
              Socket peer = (Socket) stage.peerAction;
              stage.peerAction = () -> peer.getOutputStream().write(77);
              return read(stage, socket);
            }),
        same(
            Disturbance.PEER,
            "a write into a reset",
            stage -> {
              Socket socket = stage.connectedToOneThatResets();
              stage.await(socket);
              try {
                for (int i = 0; i < 1000; i++) {
                  socket.getOutputStream().write(new byte[100_000]);
                }
                return "written";
              } catch (IOException e) {
                return e.getClass(); // broken pipe or reset, depending on timing
              }
            }),
        same(
            Disturbance.PEER,
            "a write after a reset",
            stage -> {
              Socket socket = stage.connectedToOneThatResets();
              try {
                return read(stage, socket);
              } catch (SocketException e) {
                socket.getOutputStream().write(1);
                return "written";
              }
            }),
        same(
            "connection refused",
            stage -> {
              int port = stage.listener.getLocalPort();
              stage.listener.close();
              return stage.open(new Socket(stage.listener.getInetAddress(), port));
            }),
        same(
            "a channel's connection refused",
            stage -> {
              SocketAddress address = stage.address();
              stage.listener.close();
              return SocketChannel.open(address);
            }),
        same(
            "half-closed",
            stage -> {
              Socket socket = stage.connected();
              Socket peer = (Socket) stage.peerAction;
              socket.getOutputStream().write(new byte[] {1, 2, 3});
              socket.shutdownOutput();
              byte[] got = peer.getInputStream().readAllBytes();
              peer.getOutputStream().write(got);
              peer.shutdownOutput();
              return socket.getInputStream().readAllBytes().length;
            }),
        // ---- close by another thread
        same(Disturbance.CLOSE, "close in read", stage -> read(stage, stage.connected())),
        same(
            Disturbance.CLOSE,
            "close in a limited read",
            stage -> {
              Socket socket = stage.connected();
              socket.setSoTimeout(60_000);
              return read(stage, socket);
            }),
        same(Disturbance.CLOSE, "close in accept", stage -> stage.await(stage.listener).accept()),
        same(
            Disturbance.CLOSE,
            "close in write",
            stage -> {
              OutputStream out = stage.await(stage.connected()).getOutputStream();
              while (true) {
                out.write(new byte[1_000_000]);
              }
            }),
        same(Disturbance.CLOSE, "close in receive", HookComparisonTest::receive),
        same(Disturbance.CLOSE, "close in a channel's read", HookComparisonTest::readChannel),
        same(Disturbance.CLOSE, "close in a channel's accept", HookComparisonTest::acceptChannel),
        same(
            Disturbance.CLOSE,
            "close in a datagram channel's receive",
            stage ->
                stage
                    .await(stage.open(DatagramChannel.open().bind(anyPort())))
                    .receive(ByteBuffer.allocate(1))),
        same(Disturbance.CLOSE, "close in a pipe's read", HookComparisonTest::readPipe),
        same(
            "use after close",
            stage -> {
              Socket socket = stage.connected();
              socket.close();
              return socket.getInputStream();
            }),
        // ---- interrupts
        virtualOnly("interrupt in read", stage -> read(stage, stage.connected())),
        virtualOnly("interrupt in accept", stage -> stage.await(stage.listener).accept()),
        virtualOnly("interrupt in receive", HookComparisonTest::receive),
        same(
            Disturbance.INTERRUPT,
            "interrupt in a channel's read",
            HookComparisonTest::readChannel),
        same(
            Disturbance.INTERRUPT,
            "interrupt in a channel's accept",
            HookComparisonTest::acceptChannel),
        same(Disturbance.INTERRUPT, "interrupt in a pipe's read", HookComparisonTest::readPipe),
        same(
            Disturbance.INTERRUPT,
            "interrupt in select",
            stage -> {
              Selector selector = stage.await(stage.open(Selector.open()));
              return selector.select() + " " + selector.isOpen();
            }),
        virtualOnly("interrupt in sleep", HookComparisonTest::sleep),
        same(
            Disturbance.INTERRUPT,
            "interrupt in a timed poll",
            stage -> {
              stage.begun = true;
              return pollQueue(60_000);
            }),
        same(
            Disturbance.INTERRUPT,
            "interrupt in a timed tryLock",
            stage -> {
              stage.begun = true;
              return tryLock(60_000);
            }),
        same(
            Disturbance.INTERRUPT,
            "interrupt in a timed wait",
            stage -> {
              stage.begun = true;
              return waitOnMonitor(60_000);
            }),
        same(
            Disturbance.INTERRUPT,
            "interrupt in a park",
            stage -> {
              stage.begun = true;
              LockSupport.parkNanos(60_000_000_000L);
              return Thread.interrupted();
            }),
        same(
            "interrupted before a timed poll",
            stage -> {
              Thread.currentThread().interrupt();
              return pollQueue(60_000);
            }),
        same(
            "interrupted before a channel's read",
            stage -> {
              SocketChannel channel = stage.connectedChannel();
              Thread.currentThread().interrupt();
              return channel.read(ByteBuffer.allocate(1));
            }),
        // ---- modes
        same(
            "a channel the user made non-blocking is left alone",
            stage -> {
              SocketChannel channel = stage.connectedChannel();
              channel.configureBlocking(false);
              return channel.read(ByteBuffer.allocate(1)) + " " + channel.isBlocking();
            }),
        same(
            "isBlocking after blocking calls",
            stage -> {
              SocketChannel channel = stage.connectedChannel();
              Socket peer = (Socket) stage.peerAction;
              peer.getOutputStream().write(1);
              return channel.read(ByteBuffer.allocate(1)) + " " + channel.isBlocking();
            }),
        same(
            "select with a limit",
            stage -> {
              try (Selector selector = Selector.open()) {
                SocketChannel channel = stage.connectedChannel();
                channel.configureBlocking(false);
                channel.register(selector, java.nio.channels.SelectionKey.OP_READ);
                return selector.select(10);
              }
            }),
        same(
            "options",
            stage -> {
              Socket socket = stage.connected();
              socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
              socket.setSoTimeout(123);
              return socket.getTcpNoDelay() + " " + socket.getSoTimeout();
            }));
  }

  private static Case same(String name, Call call) {
    return same(Disturbance.NONE, name, call);
  }

  private static Case same(Disturbance disturbance, String name, Call call) {
    return new Case(name, disturbance, true, call);
  }

  private static Case virtualOnly(String name, Call call) {
    return new Case(name, Disturbance.INTERRUPT, false, call);
  }

  private static Object read(Stage stage, Socket socket) throws IOException {
    return stage.await(socket).getInputStream().read();
  }

  private static Object receive(Stage stage) throws IOException {
    DatagramSocket socket = stage.await(stage.open(new DatagramSocket(anyPort())));
    socket.receive(new DatagramPacket(new byte[1], 1));
    return "received";
  }

  private static Object readChannel(Stage stage) throws IOException {
    return stage.await(stage.connectedChannel()).read(ByteBuffer.allocate(1));
  }

  private static Object acceptChannel(Stage stage) throws IOException {
    return stage.await(stage.open(ServerSocketChannel.open().bind(anyPort()))).accept();
  }

  private static Object readPipe(Stage stage) throws IOException {
    Pipe pipe = Pipe.open();
    stage.open(pipe.sink());
    return stage.await(stage.open(pipe.source())).read(ByteBuffer.allocate(1));
  }

  private static Object timedRead(Stage stage, int millis) throws IOException {
    Socket socket = stage.connected();
    socket.setSoTimeout(millis);
    long start = System.nanoTime();
    try {
      return socket.getInputStream().read();
    } finally {
      assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(millis * 1_000_000L);
    }
  }

  private static Object timedReads(Stage stage) throws IOException {
    Socket socket = stage.connected();
    Socket peer = (Socket) stage.peerAction;
    socket.setSoTimeout(3);
    InputStream in = socket.getInputStream();
    int timeouts = 0;
    for (int i = 0; i < 3; i++) {
      try {
        in.read();
      } catch (java.net.SocketTimeoutException e) {
        timeouts++;
      }
    }
    socket.setSoTimeout(60_000);
    peer.getOutputStream().write(5);
    return timeouts + " " + in.read();
  }

  private static Object pollQueue(int millis) throws InterruptedException {
    Object polled = new ArrayBlockingQueue<Object>(1).poll(millis, TimeUnit.MILLISECONDS);
    return polled == null ? "nothing" : polled;
  }

  private static Object tryLock(int millis) throws InterruptedException {
    ReentrantLock lock = new ReentrantLock();
    Thread owner = Thread.ofPlatform().start(lock::lock); // never unlocks
    owner.join();
    return lock.tryLock(millis, TimeUnit.MILLISECONDS);
  }

  @SuppressWarnings("WaitNotInLoop")
  private static Object waitOnMonitor(int millis) throws InterruptedException {
    Object monitor = new Object();
    synchronized (monitor) {
      monitor.wait(millis);
      return Thread.holdsLock(monitor);
    }
  }

  private static Object sleep(Stage stage) throws InterruptedException {
    stage.begun = true;
    Thread.sleep(60_000);
    return "slept";
  }

  @ParameterizedTest
  @MethodSource("cases")
  void theSameEverywhere(Case tried) throws Exception {
    String expected = run(tried, Thread.ofVirtual()::unstarted);
    if (tried.sameOnPlatformThreads) {
      assertThat(run(tried, Thread.ofPlatform().daemon()::unstarted))
          .as("platform thread")
          .isEqualTo(expected);
    }
    assertThat(onFiber(tried)).as("hooked fiber").isEqualTo(expected);
    try {
      Hook.set(Hook.Family.SOCKETS, false);
      Hook.set(Hook.Family.TIMERS, false);
      assertThat(onFiber(tried)).as("fiber without the hook").isEqualTo(expected);
    } finally {
      Hook.set(Hook.Family.SOCKETS, true);
      Hook.set(Hook.Family.TIMERS, true);
    }
  }

  private static String onFiber(Case tried) throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      return run(
          tried,
          task -> {
            Fiber<?>[] fiber = new Fiber<?>[1];
            CountDownLatch go = new CountDownLatch(1);
            fiber[0] =
                scheduler.go(
                    () -> {
                      go.await();
                      task.run();
                    });
            return Thread.ofPlatform().daemon().unstarted(go::countDown);
          });
    }
  }

  private interface Starter {
    /** Makes a thread that, when it is started, runs the task on the given kind of thread. */
    Thread prepare(Runnable task);
  }

  private static String run(Case tried, Starter starter) throws Exception {
    try (Stage stage = new Stage()) {
      AtomicReference<Thread> runner = new AtomicReference<>();
      CompletableFuture<String> outcome = new CompletableFuture<>();
      starter
          .prepare(
              () -> {
                runner.set(Thread.currentThread());
                outcome.complete(outcomeOf(tried, stage));
              })
          .start();
      if (tried.disturbance != Disturbance.NONE) {
        eventually("the case begins", () -> stage.begun || outcome.isDone());
        eventually("the case waits", () -> outcome.isDone() || waits(runner.get()));
        switch (tried.disturbance) {
          case INTERRUPT -> runner.get().interrupt();
          case CLOSE -> stage.target.close();
          default -> stage.peerAction.close();
        }
      }
      return outcome.get(20, TimeUnit.SECONDS);
    }
  }

  /** A platform thread in a socket call is RUNNABLE for Java: its stack shows the wait. */
  private static boolean waits(Thread thread) {
    return switch (thread.getState()) {
      case WAITING, TIMED_WAITING -> true;
      case RUNNABLE -> {
        StackTraceElement[] stack = thread.getStackTrace();
        yield stack.length > 0
            && stack[0].isNativeMethod() // accept() itself has not yet recorded its start
            && List.of("poll", "accept", "read0", "write0", "receive0", "wait", "epollWait", "park")
                .contains(stack[0].getMethodName());
      }
      default -> false;
    };
  }

  private static String outcomeOf(Case tried, Stage stage) {
    String text;
    try {
      text = String.valueOf(tried.call.run(stage));
    } catch (Exception e) {
      text = e.getClass().getName() + ": " + e.getMessage();
    }
    return text + (Thread.currentThread().isInterrupted() ? ", interrupted" : "");
  }
}
