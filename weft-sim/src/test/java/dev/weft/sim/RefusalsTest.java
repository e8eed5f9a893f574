package dev.weft.sim;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.weft.Fiber;
import dev.weft.Hook;
import dev.weft.Scheduler;
import dev.weft.io.IoEvent;
import dev.weft.testkit.Feature;
import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.InputStream;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.StandardProtocolFamily;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.DatagramChannel;
import java.nio.channels.FileChannel;
import java.nio.channels.Pipe;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.WatchService;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What cannot be simulated is refused, with its name and the line that uses it. */
@Feature("V5")
@SuppressWarnings("AddressSelection") // a simulated host has one address
class RefusalsTest {
  private static final String HOLDS_ITS_THREAD =
      "a wait that holds its thread: in a class initializer, below a native method or while the"
          + " hook is disabled";

  private static Arguments refused(String what, SimulationBody body) {
    return arguments(what, body);
  }

  static Stream<Arguments> programs() {
    return Stream.of(
        refused("a process", sim -> new ProcessBuilder("true").start()),
        refused("a process", sim -> Runtime.getRuntime().exec(new String[] {"true"})),
        refused("a native function (Linker.downcallHandle)", sim -> nativeFunction()),
        refused("a native library (System.load)", sim -> loadAbsolute()),
        refused("a native library (System.loadLibrary)", sim -> loadByName()),
        refused("a native library (Runtime.loadLibrary)", sim -> loadByRuntime()),
        refused(
            "a wait for the garbage collector (ReferenceQueue.remove)",
            sim -> new ReferenceQueue<Object>().remove()),
        refused(
            "a wait for the garbage collector (ReferenceQueue.remove)",
            sim -> new ReferenceQueue<Object>().remove(0)),
        refused(
            "a read of the standard input: set another by System.setIn",
            sim -> standardInput().read()),
        refused(
            "a read of the standard input: set another by System.setIn",
            sim -> standardInput().readAllBytes()),
        refused(HOLDS_ITS_THREAD, sim -> Sleeps.touch()),
        refused(HOLDS_ITS_THREAD, sim -> Parks.touch()),
        refused(HOLDS_ITS_THREAD, sim -> Waits.touch()),
        refused(HOLDS_ITS_THREAD, sim -> sleepsWithoutHook()),
        refused("a WatchService", sim -> FileSystems.getDefault().newWatchService().close()),
        refused("a Pipe", sim -> Pipe.open().sink().close()),
        refused("IoManager.awaitAny", RefusalsTest::awaitAny),
        refused("IoManager.addEvent", RefusalsTest::addEvent),
        refused("a scheduler with threads of its own", sim -> ownScheduler()),
        refused(
            "a ForkJoinPool, which parallel streams use too",
            sim -> List.of(1, 2, 3).parallelStream().forEach(number -> Thread.yield())),
        refused(
            "a ForkJoinPool, which parallel streams use too",
            sim -> {
              try (ForkJoinPool pool = new ForkJoinPool(2)) {
                pool.execute(Thread::yield);
              }
            }),
        refused(
            "a Unix-domain socket", sim -> SocketChannel.open(StandardProtocolFamily.UNIX).close()),
        refused("an asynchronous channel", sim -> AsynchronousSocketChannel.open().close()),
        refused("multicast", RefusalsTest::multicast),
        refused("a mapped file that can be written (MapMode.READ_WRITE)", RefusalsTest::mapsAFile),
        refused(
            "an AsynchronousFileChannel",
            sim -> AsynchronousFileChannel.open(file(sim), READ).close()),
        refused(
            "a deletion by a SecureDirectoryStream",
            sim -> inFolder(sim, folder -> folder.deleteFile(Path.of("f")))),
        refused(
            "a move by a SecureDirectoryStream",
            sim -> inFolder(sim, folder -> folder.move(Path.of("f"), folder, Path.of("g")))),
        refused(
            "a file opened by a SecureDirectoryStream",
            sim ->
                inFolder(
                    sim,
                    folder ->
                        folder.newByteChannel(Path.of("f"), java.util.Set.of(READ)).close())));
  }

  @ParameterizedTest(name = "{0} {index}")
  @MethodSource("programs")
  void isRefusedByNameAndLine(String what, SimulationBody body) {
    assertThatThrownBy(() -> Simulation.explore(SimulationOptions.seeds(10), body))
        .isInstanceOf(SimulationFailure.Unsupported.class)
        .hasMessageMatching(
            "cannot simulate \\Q" + what + "\\E, used at RefusalsTest\\.java:[0-9]+");
  }

  /** The pool's thread may take the work, and is outside the simulation. */
  @Test
  void aForkJoinPoolIsRefusedThoughItHasThreads() throws Exception {
    ForkJoinPool.commonPool().submit(Thread::yield).get();
    assertThatThrownBy(
            () ->
                Simulation.explore(
                    SimulationOptions.seeds(10),
                    sim -> List.of(1, 2, 3).parallelStream().forEach(number -> Thread.yield())))
        .isInstanceOf(SimulationFailure.Unsupported.class)
        .hasMessageMatching(
            "cannot simulate a ForkJoinPool, .*, used at RefusalsTest\\.java:[0-9]+");
  }

  private static final class Sleeps {
    static {
      sleep();
    }

    static void touch() {}
  }

  private static final class Parks {
    static {
      LockSupport.parkNanos(1_000_000);
    }

    static void touch() {}
  }

  private static final class Waits {
    static {
      waitInMonitor();
    }

    static void touch() {}
  }

  @SuppressWarnings("WaitNotInLoop") // it never returns
  private static void waitInMonitor() {
    Object monitor = new Object();
    synchronized (monitor) {
      try {
        monitor.wait(1);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  private static void sleepsWithoutHook() throws InterruptedException {
    Hook.disable();
    Fiber.sleep(Duration.ofMillis(1));
  }

  private static void sleep() {
    try {
      Thread.sleep(1);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @SuppressWarnings("restricted") // the JVM allows it to this test, or warns
  private static void nativeFunction() {
    Linker linker = Linker.nativeLinker();
    linker.downcallHandle(
        linker.defaultLookup().findOrThrow("getpid"), FunctionDescriptor.of(ValueLayout.JAVA_INT));
  }

  @SuppressWarnings("restricted")
  private static void loadAbsolute() {
    System.load("/no/such/library");
  }

  @SuppressWarnings("restricted")
  private static void loadByName() {
    System.loadLibrary("no-such-library");
  }

  @SuppressWarnings("restricted")
  private static void loadByRuntime() {
    Runtime.getRuntime().loadLibrary("no-such-library");
  }

  /** Returns what System.in is, unless it has been set, as Surefire does. */
  private static InputStream standardInput() {
    return new BufferedInputStream(new FileInputStream(FileDescriptor.in));
  }

  private static void awaitAny(Simulation sim) throws Exception {
    try (DatagramChannel channel = DatagramChannel.open(StandardProtocolFamily.INET)) {
      channel.configureBlocking(false);
      Fiber.current()
          .orElseThrow()
          .scheduler()
          .io()
          .awaitAny(List.of(channel), IoEvent.READ, Duration.ofSeconds(1));
    }
  }

  private static void addEvent(Simulation sim) throws Exception {
    try (DatagramChannel channel = DatagramChannel.open(StandardProtocolFamily.INET)) {
      channel.configureBlocking(false);
      Fiber.current().orElseThrow().scheduler().io().addEvent(channel, IoEvent.READ, () -> {});
    }
  }

  private static void ownScheduler() throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      scheduler.go(() -> {}).join();
    }
  }

  private static void multicast(Simulation sim) throws Exception {
    try (DatagramChannel channel = DatagramChannel.open(StandardProtocolFamily.INET)) {
      channel.bind(new InetSocketAddress(53));
      channel.join(
          InetAddress.getByName("230.0.0.1"),
          NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress()));
    }
  }

  private static Path file(Simulation sim) throws Exception {
    return Files.writeString(sim.disk("d").root().resolve("f"), "content");
  }

  private static void mapsAFile(Simulation sim) throws Exception {
    try (FileChannel channel = FileChannel.open(file(sim), READ, WRITE, CREATE)) {
      channel.map(FileChannel.MapMode.READ_WRITE, 0, 7);
    }
  }

  private interface InFolder {
    void run(SecureDirectoryStream<Path> folder) throws Exception;
  }

  private static void inFolder(Simulation sim, InFolder action) throws Exception {
    try (DirectoryStream<Path> folder = Files.newDirectoryStream(file(sim).getParent())) {
      action.run((SecureDirectoryStream<Path>) folder);
    }
  }

  // ---- what looks alike and is not refused ----

  @Test
  void anotherStandardInputIsRead() {
    InputStream before = System.in;
    System.setIn(new ByteArrayInputStream(new byte[] {7, 7, 7, 7, 7, 7, 7, 7}));
    try {
      Simulation.explore(
              SimulationOptions.seeds(1), sim -> assertThat(System.in.read()).isEqualTo(7))
          .check();
    } finally {
      System.setIn(before);
    }
  }

  /** A reference that is there, and a limit in virtual time, need no garbage collector. */
  @Test
  void aReferenceQueueThatNeedNotWaitForTheCollectorIsUsed() {
    Simulation.explore(
            SimulationOptions.seeds(1),
            sim -> {
              ReferenceQueue<Object> queue = new ReferenceQueue<>();
              WeakReference<Object> reference = new WeakReference<>(sim, queue);
              assertThat(queue.remove(1_000)).isNull();
              assertThat(sim.elapsed()).isEqualTo(Duration.ofSeconds(1));
              reference.enqueue();
              assertThat(queue.remove()).isSameAs(reference);
            })
        .check();
  }

  @Test
  void outsideASimulationNothingIsRefused() throws Exception {
    Simulation.explore(SimulationOptions.seeds(1), sim -> {}).check();
    nativeFunction();
    assertThatThrownBy(RefusalsTest::loadByName).isInstanceOf(UnsatisfiedLinkError.class);
    ReferenceQueue<Object> queue = new ReferenceQueue<>();
    WeakReference<Object> reference = new WeakReference<>(queue, queue);
    Thread later = Thread.ofVirtual().start(reference::enqueue);
    assertThat(queue.remove()).isSameAs(reference);
    later.join();
    try (WatchService watches = FileSystems.getDefault().newWatchService()) {
      assertThat(watches.poll()).isNull();
    }
    assertThat(new ProcessBuilder("true").start().waitFor()).isZero();
  }
}
