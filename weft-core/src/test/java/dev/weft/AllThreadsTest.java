package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
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
import java.util.concurrent.locks.LockSupport;
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
