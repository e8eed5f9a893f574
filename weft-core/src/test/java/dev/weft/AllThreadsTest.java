package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.internal.sched.JvmHost;
import dev.weft.internal.sched.LookHolds;
import dev.weft.internal.watch.Watchdog;
import dev.weft.testkit.Feature;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import jdk.management.VirtualThreadSchedulerMXBean;
import org.junit.jupiter.api.Test;

/**
 * With {@code -Dweft.threads=all} every virtual thread of the JVM that has no scheduler of its own
 * is a fiber of the shared scheduler. Each test is a program in a JVM of its own.
 */
@Feature("H10")
class AllThreadsTest {
  private static final String ALL = "-Dweft.threads=all";

  /** Starts virtual threads from platform threads, in every way that the JDK has. */
  static final class EveryWay {
    private static final ExecutorService EXECUTOR = Executors.newVirtualThreadPerTaskExecutor();

    private EveryWay() {}

    /** A virtual thread that a class initializer starts. */
    static final class Initialized {
      static final CompletableFuture<String> RESULT = new CompletableFuture<>();

      static {
        Thread.startVirtualThread(() -> RESULT.complete(where()));
      }

      private Initialized() {}
    }

    static void main() throws Exception {
      Scheduler.shared();
      report("startVirtualThread", Thread::startVirtualThread);
      report("ofVirtual().start", task -> Thread.ofVirtual().name("named").start(task));
      report("unstarted", task -> Thread.ofVirtual().unstarted(task).start());
      report("factory", task -> Thread.ofVirtual().factory().newThread(task).start());
      report("executor", EXECUTOR::execute);
      report("future", task -> CompletableFuture.runAsync(task, EXECUTOR).join());
      report("child", task -> Thread.startVirtualThread(() -> Thread.startVirtualThread(task)));
      report(
          "started by a fiber",
          task -> {
            Thread made = Thread.ofVirtual().unstarted(task);
            Weft.go(made::start);
          });
      report(
          "timer",
          task -> {
            Timer timer = new Timer(true);
            TimerTask start =
                new TimerTask() {
                  @Override
                  public void run() {
                    Thread.startVirtualThread(task);
                  }
                };
            timer.schedule(start, 1);
          });
      System.out.println("initializer: " + Initialized.RESULT.join());
      report("structured task scope", EveryWay::forkInScope);
      report("helper of HttpClient", EveryWay::handleWithHttpClient);
      report("after a sleep", task -> Thread.startVirtualThread(() -> sleepThen(task)));
      report("after a read", task -> Thread.startVirtualThread(() -> readThen(task)));
    }

    private static void report(String how, Consumer<Runnable> starter) {
      CompletableFuture<String> result = new CompletableFuture<>();
      starter.accept(() -> result.complete(where()));
      System.out.println(how + ": " + result.join());
    }

    private static String where() {
      String carrier = Thread.currentThread().toString().replaceAll(".*@|-\\d+$", "");
      return (Fiber.current().isPresent() ? "a fiber" : "no fiber") + " on " + carrier;
    }

    /** Runs it in a {@code StructuredTaskScope}, a preview API, that a platform thread opens. */
    private static void forkInScope(Runnable task) {
      Thread.ofPlatform()
          .start(
              () -> {
                try {
                  Class<?> type = Class.forName("java.util.concurrent.StructuredTaskScope");
                  Object scope = type.getMethod("open").invoke(null);
                  type.getMethod("fork", Runnable.class).invoke(scope, task);
                  type.getMethod("join").invoke(scope);
                  type.getMethod("close").invoke(scope);
                } catch (ReflectiveOperationException e) {
                  throw new IllegalStateException(e);
                }
              });
    }

    /** Runs it where the client handles an answer: its selector's thread starts that thread. */
    private static void handleWithHttpClient(Runnable task) {
      HttpClient client = HttpClient.newBuilder().executor(EXECUTOR).build();
      InetAddress loopback = InetAddress.getLoopbackAddress();
      try (ServerSocket listener = new ServerSocket(0, 1, loopback)) {
        URI uri = URI.create("http://localhost:" + listener.getLocalPort());
        CompletableFuture<?> answered =
            client.sendAsync(
                HttpRequest.newBuilder(uri).build(),
                answer -> {
                  task.run();
                  return HttpResponse.BodySubscribers.discarding();
                });
        try (Socket socket = listener.accept()) {
          socket.getInputStream().read(new byte[1024]);
          socket
              .getOutputStream()
              .write("HTTP/1.1 204 No Content\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
          answered.join();
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static void sleepThen(Runnable task) {
      try {
        Thread.sleep(2);
        task.run();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }

    private static void readThen(Runnable task) {
      InetAddress loopback = InetAddress.getLoopbackAddress();
      try (ServerSocket listener = new ServerSocket(0, 1, loopback);
          Socket client = new Socket(loopback, listener.getLocalPort());
          Socket peer = listener.accept()) {
        Thread.startVirtualThread(() -> sleepThen(() -> write(client)));
        peer.getInputStream().read();
        task.run();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }

    private static void write(Socket socket) {
      try {
        socket.getOutputStream().write(1);
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
  }

  @Test
  void threadsOfEveryOriginAreFibers() throws Exception {
    // in a JVM that has just started, class loading makes slices long: none is to be set apart here
    ForkedJvm.Result result = run(EveryWay.class, ALL, "-Dweft.separateComputing=false");

    assertThat(result.output())
        .isEqualTo(
            """
            startVirtualThread: a fiber on weft-shared
            ofVirtual().start: a fiber on weft-shared
            unstarted: a fiber on weft-shared
            factory: a fiber on weft-shared
            executor: a fiber on weft-shared
            future: a fiber on weft-shared
            child: a fiber on weft-shared
            started by a fiber: a fiber on weft-shared
            timer: a fiber on weft-shared
            initializer: a fiber on weft-shared
            structured task scope: a fiber on weft-shared
            helper of HttpClient: a fiber on weft-shared
            after a sleep: a fiber on weft-shared
            after a read: a fiber on weft-shared
            """);
  }

  @Test
  void withoutThePropertyTheyBelongToTheJdk() throws Exception {
    assertThat(run(EveryWay.class).output())
        .contains("startVirtualThread: no fiber on ForkJoinPool-1-worker")
        .doesNotContain("startVirtualThread: a fiber");
  }

  /** Names a scheduler of its own, stops it, and asks what it may not. */
  static final class Named {
    private Named() {}

    static void main() throws Exception {
      Scheduler mine = Scheduler.builder().threads(1).name("mine").build();
      refused(mine);
      mine.start().hostVirtualThreads();
      print("named");
      System.out.println(
          ManagementFactory.getPlatformMXBean(VirtualThreadSchedulerMXBean.class).getParallelism());
      CountDownLatch begun = new CountDownLatch(1);
      CountDownLatch goOn = new CountDownLatch(1);
      Thread.startVirtualThread(
          () -> {
            begun.countDown();
            await(goOn);
            System.out.println("served to its end: " + EveryWay.where());
          });
      begun.await();
      Thread stopper = Thread.ofPlatform().start(mine::stop);
      eventually(() -> JvmHost.scheduler() == Scheduler.shared());
      print("while it stops");
      goOn.countDown();
      stopper.join();
      print("stopped");
      refused(mine);
    }

    private static void print(String when) throws InterruptedException {
      Thread.startVirtualThread(() -> System.out.println(when + ": " + EveryWay.where())).join();
    }

    private static void refused(Scheduler scheduler) {
      try {
        scheduler.hostVirtualThreads();
      } catch (IllegalStateException e) {
        System.out.println(e.getMessage());
      }
    }

    private static void await(CountDownLatch latch) {
      try {
        latch.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }

    private static void eventually(BooleanSupplier condition) {
      while (!condition.getAsBoolean()) {
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void theUserNamesTheSchedulerThatRunsThem() throws Exception {
    assertThat(run(Named.class, ALL).output())
        .isEqualTo(
            """
            cannot host virtual threads on scheduler mine: start it first
            named: a fiber on mine
            1
            while it stops: a fiber on weft-shared
            served to its end: a fiber on mine
            stopped: a fiber on weft-shared
            cannot host virtual threads on scheduler mine: it has been stopped
            """);
  }

  /** Names a scheduler without the property. */
  static final class NamedWithout {
    private NamedWithout() {}

    static void main() {
      Named.refused(Scheduler.shared());
    }
  }

  @Test
  void aSchedulerIsNotNamedWithoutTheProperty() throws Exception {
    assertThat(run(NamedWithout.class).output())
        .isEqualTo(
            "cannot host virtual threads on scheduler weft-shared: they belong to the JDK without"
                + " -Dweft.threads=all\n");
  }

  /** Main returns; a virtual thread waits for ever, and a fiber for a moment. */
  static final class Returning {
    private Returning() {}

    static void main() throws Exception {
      CountDownLatch begun = new CountDownLatch(2);
      Runnable forEver =
          () -> {
            begun.countDown();
            LockSupport.park();
          };
      Thread.startVirtualThread(forEver);
      Scheduler shared = Scheduler.shared();
      Thread.startVirtualThread(forEver);
      begun.await();
      shared.go(
          () -> {
            Fiber.sleep(Duration.ofMillis(300));
            System.out.println("the fiber has ended");
          });
    }
  }

  @Test
  void theyDoNotKeepTheProcessAliveAndFibersDo() throws Exception {
    ForkedJvm.Result result = run(Returning.class, ALL);

    assertThat(result.output()).isEqualTo("the fiber has ended\n");
    assertThat(result.exitStatus()).isZero();
  }

  /** Asks the JDK's own tools for its scheduler. */
  static final class Tools {
    private Tools() {}

    static void main() throws Exception {
      Scheduler.shared();
      CountDownLatch waiting = new CountDownLatch(1);
      Thread.startVirtualThread(
          () -> {
            waiting.countDown();
            LockSupport.park();
          });
      waiting.await();
      VirtualThreadSchedulerMXBean bean =
          ManagementFactory.getPlatformMXBean(VirtualThreadSchedulerMXBean.class);
      System.out.println(bean.getParallelism() == Scheduler.shared().threads());
      System.out.println(bean.getPoolSize() == Scheduler.shared().threads());
      System.out.println(bean.getMountedVirtualThreadCount() <= bean.getParallelism());
      System.out.println(bean.getQueuedVirtualThreadCount());
      try {
        bean.setParallelism(7);
      } catch (UnsupportedOperationException e) {
        System.out.println(e.getMessage());
      }
      Process jcmd =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                  Long.toString(ProcessHandle.current().pid()),
                  "Thread.vthread_scheduler")
              .start();
      try (InputStream output = jcmd.getInputStream()) {
        System.out.print(
            new String(output.readAllBytes(), StandardCharsets.UTF_8)
                .replaceAll("\\d+:\n", "")
                .replaceAll("\\d+", "N"));
      }
    }
  }

  @Test
  void theToolsOfTheJdkShowTheSchedulerOfWeft() throws Exception {
    assertThat(run(Tools.class, ALL).output())
        .isEqualTo(
            """
            true
            true
            true
            0
            cannot change the parallelism: virtual threads run on scheduler weft-shared of Weft, which keeps the threads it was built with
            scheduler weft-shared of Weft[threads = N, running = N, ready = N, waiting = N]
            """);
  }

  /** Platform threads start many threads that switch, while another thread looks at stacks. */
  static final class Many {
    private static final int STARTERS = 4;
    private static final int EACH = 5_000;

    private Many() {}

    static void main() throws Exception {
      Scheduler shared = Scheduler.shared();
      AtomicInteger ended = new AtomicInteger();
      List<Thread> starters = new ArrayList<>();
      for (int i = 0; i < STARTERS; i++) {
        starters.add(
            Thread.ofPlatform()
                .start(
                    () -> {
                      for (int j = 0; j < EACH; j++) {
                        Thread made = Thread.startVirtualThread(() -> work(ended));
                        made.getStackTrace();
                        LockSupport.unpark(made);
                      }
                    }));
      }
      for (Thread starter : starters) {
        starter.join();
      }
      while (ended.get() < STARTERS * EACH) {
        Thread.sleep(1);
      }
      while (shared.stats().begun() != shared.stats().ended()) {
        Thread.sleep(1); // the last slices
      }
      System.out.println(
          "%d begun, %d rescues".formatted(shared.stats().begun(), shared.stats().rescues()));
    }

    private static void work(AtomicInteger ended) {
      Thread.yield();
      LockSupport.parkNanos(100_000);
      synchronized (ended) {
        Thread.yield();
      }
      ended.incrementAndGet();
    }
  }

  @Test
  void noThreadIsLostOrCountedTwice() throws Exception {
    assertThat(run(Many.class, ALL).output()).isEqualTo("20000 begun, 0 rescues\n");
  }

  /** A virtual thread waits for a platform thread for longer than the watchdog looks. */
  static final class Waiting {
    private Waiting() {}

    static void main() throws Exception {
      Scheduler.shared();
      Thread waiting = Thread.startVirtualThread(LockSupport::park);
      Thread.sleep(3_000);
      LockSupport.unpark(waiting);
      waiting.join();
      System.out.println("woken");
    }
  }

  @Test
  void aWaitForAPlatformThreadIsNoDeadlock() throws Exception {
    assertThat(run(Waiting.class, ALL).output()).isEqualTo("woken\n");
  }

  /** Many virtual threads wait; prints at how many of them the watchdog looks while all is idle. */
  static final class ManyWait {
    private static final int MANY = 100_000;
    private static final int LOOKS = 10;
    private static final int FEW = 512 * LOOKS;

    private ManyWait() {}

    static void main() throws Exception {
      Scheduler shared = Scheduler.shared();
      for (int i = 0; i < MANY; i++) {
        Thread.startVirtualThread(LockSupport::park);
      }
      Named.eventually(() -> shared.stats().waiting() == MANY);
      Seen seen = new Seen();
      LookHolds.observe(seen);
      long least = Long.MAX_VALUE; // the search for circles of locks goes on for a moment
      for (int i = 0; i < 20 && least > FEW; i++) {
        least = Math.min(least, seen.inSomeLooks());
      }
      System.out.println((least <= FEW ? "few" : least) + " in " + LOOKS + " looks");
      System.exit(0);
    }

    /** Counts the fibers at which the watchdog looks. */
    private static final class Seen extends LookHolds {
      private final AtomicLong fibers = new AtomicLong();

      @Override
      protected void began() {}

      @Override
      protected void ended(int count) {
        if (Thread.currentThread().getName().equals("weft-watchdog")) {
          fibers.addAndGet(count);
        }
      }

      long inSomeLooks() throws InterruptedException {
        CountDownLatch looks = new CountDownLatch(LOOKS);
        long before = fibers.get();
        Watchdog.atEachLook(looks::countDown);
        looks.await();
        return fibers.get() - before;
      }
    }
  }

  @Test
  void theWatchdogLooksAtFewOfManyThatWait() throws Exception {
    assertThat(run(ManyWait.class, ALL).output()).isEqualTo("few in 10 looks\n");
  }

  /** Uses virtual threads until their constructor is compiled, then Weft. */
  static final class TooLate {
    private TooLate() {}

    static void main() throws Exception {
      for (int i = 0; i < 30_000; i++) {
        Thread.ofVirtual().unstarted(() -> {});
      }
      Thread.startVirtualThread(() -> System.out.println("before")).join();
      Scheduler.shared();
      Thread.startVirtualThread(() -> System.out.println("after")).join();
    }
  }

  @Test
  void aUseOfWeftThatComesTooLateIsReported() throws Exception {
    assertThat(run(TooLate.class, ALL, "-Xbatch").output())
        .contains("before\n", "after\n")
        .containsOnlyOnce(
            "virtual threads that platform threads start run on the JDK's scheduler, not on Weft:"
                + " the program had started virtual threads before it used Weft");
  }

  @Test
  void anUnknownValueIsNamed() throws Exception {
    ForkedJvm.Result result = run(Waiting.class, "-Dweft.threads=some");

    assertThat(result.output()).contains("-Dweft.threads must be all or jdk, not 'some'");
    assertThat(result.exitStatus()).isEqualTo(1);
  }

  private static ForkedJvm.Result run(Class<?> program, String... options) throws Exception {
    List<String> words = new ArrayList<>(List.of(ForkedJvm.weftArgs()));
    words.addAll(List.of(options));
    words.addAll(
        List.of(
            "-cp", System.getProperty("java.class.path"), "-XX:+UseSerialGC", program.getName()));
    return ForkedJvm.java(words.toArray(new String[0]));
  }
}
