package dev.weft.internal.watch;

import static dev.weft.Eventually.eventually;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Body;
import dev.weft.Fiber;
import dev.weft.FiberDump;
import dev.weft.FiberOptions;
import dev.weft.LogCapture;
import dev.weft.Scheduler;
import dev.weft.channel.Channel;
import dev.weft.channel.Select;
import dev.weft.sync.ConditionVariable;
import dev.weft.sync.Mutex;
import dev.weft.sync.SharedMutex;
import dev.weft.sync.WaitGroup;
import dev.weft.testkit.Feature;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The kinds of deadlocks of Go programs, and what of Weft finds each while an unrelated fiber goes
 * on. The kinds, and the shapes of most of these programs, are those of GoKer, the bug kernels of
 * GoBench (Yuan et al., "GoBench: A Benchmark Suite of Real-World Go Concurrency Bugs", CGO 2021).
 * The table in {@code docs/operating.md} has the counts.
 *
 * <p>All programs run at a time, so that the watchdog's passes and the collection of the leak check
 * are paid for once.
 */
@Feature("S25")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@SuppressWarnings("LockNotBeforeTry") // most of these never release their locks
class GoDeadlocksTest {
  private static final Path TABLE = Path.of(System.getProperty("weft.root"), "docs/operating.md");

  /** What becomes of a program. */
  enum Verdict {
    /** Weft's primitive is reentrant, or refuses the call: no fiber is stuck. */
    NO_DEADLOCK,
    /** The watchdog reports the fibers by itself. */
    CYCLE,
    /** {@code Scheduler.leaks()} lists the fibers. */
    LEAK,
    /** Neither does: something alive could still end the wait, or the JVM holds the fibers. */
    NOT_FOUND
  }

  /** Starts the fibers of one program, named after it. */
  private record Starter(String program, Scheduler scheduler) {
    void go(String role, Body body) {
      scheduler.go(FiberOptions.named(program + "/" + role), body);
    }
  }

  /**
   * One program.
   *
   * @param stuck how many of its fibers are stuck in the end
   */
  record Program(String kind, String name, Verdict verdict, int stuck, Consumer<Starter> start) {
    @Override
    public String toString() {
      return kind + ": " + name;
    }
  }

  private static final String DOUBLE_LOCK = "double lock";
  private static final String AB_BA = "AB-BA";
  private static final String RWR = "reader, writer, reader";
  private static final String NO_UNLOCK = "missing unlock";
  private static final String CHANNEL = "channel";
  private static final String CONDITION = "condition";
  private static final String CHANNEL_LOCK = "channel and lock";
  private static final String WAIT_GROUP = "wait group";

  private static final List<Program> PROGRAMS =
      List.of(
          new Program(
              DOUBLE_LOCK,
              "a callback locks what its caller holds",
              Verdict.NO_DEADLOCK,
              0,
              GoDeadlocksTest::callbackLocksAgain),
          new Program(
              DOUBLE_LOCK,
              "a writer writes again",
              Verdict.NO_DEADLOCK,
              0,
              GoDeadlocksTest::writerWritesAgain),
          new Program(
              DOUBLE_LOCK,
              "a reader becomes a writer",
              Verdict.CYCLE,
              1,
              GoDeadlocksTest::readerBecomesWriter),
          new Program(AB_BA, "two mutexes", Verdict.CYCLE, 2, GoDeadlocksTest::twoMutexes),
          new Program(
              AB_BA,
              "a mutex, a ReentrantLock and a monitor",
              Verdict.CYCLE,
              3,
              GoDeadlocksTest::threeKindsOfLocks),
          new Program(AB_BA, "a lock and a join", Verdict.CYCLE, 2, GoDeadlocksTest::lockAndJoin),
          new Program(
              RWR, "a reader reads again", Verdict.CYCLE, 2, GoDeadlocksTest::readerReadsAgain),
          new Program(
              RWR,
              "two readers write each other's lock",
              Verdict.CYCLE,
              2,
              GoDeadlocksTest::readersWriteCrosswise),
          new Program(
              NO_UNLOCK,
              "an early return keeps the lock",
              Verdict.LEAK,
              1,
              GoDeadlocksTest::earlyReturn),
          new Program(
              NO_UNLOCK,
              "an early return keeps the read lock",
              Verdict.LEAK,
              1,
              GoDeadlocksTest::earlyReturnOfReader),
          new Program(
              NO_UNLOCK,
              "an early return keeps a lock that a static field holds",
              Verdict.NOT_FOUND,
              1,
              GoDeadlocksTest::earlyReturnOfGlobal),
          new Program(CHANNEL, "no sender is left", Verdict.LEAK, 1, GoDeadlocksTest::noSender),
          new Program(
              CHANNEL,
              "the receiver has timed out",
              Verdict.LEAK,
              1,
              GoDeadlocksTest::receiverTimedOut),
          new Program(
              CHANNEL,
              "the channel is never closed",
              Verdict.LEAK,
              1,
              GoDeadlocksTest::neverClosed),
          new Program(
              CHANNEL,
              "a select forgets done",
              Verdict.LEAK,
              1,
              GoDeadlocksTest::selectForgetsDone),
          new Program(
              CHANNEL,
              "two loops send to each other",
              Verdict.LEAK,
              2,
              GoDeadlocksTest::loopsSendToEachOther),
          new Program(
              CHANNEL,
              "no sender is left, but a static field holds the channel",
              Verdict.NOT_FOUND,
              1,
              GoDeadlocksTest::noSenderOfGlobal),
          new Program(
              CONDITION,
              "a signal before the wait",
              Verdict.LEAK,
              1,
              GoDeadlocksTest::missedSignal),
          new Program(
              CONDITION,
              "one signal for two waiters",
              Verdict.LEAK,
              1,
              GoDeadlocksTest::aSignalForTwoWaiters),
          new Program(
              CONDITION,
              "Object.notify before the wait",
              Verdict.NOT_FOUND,
              1,
              GoDeadlocksTest::missedNotify),
          new Program(
              CHANNEL_LOCK,
              "a send under the lock that the receiver wants",
              Verdict.LEAK,
              2,
              GoDeadlocksTest::sendUnderLock),
          new Program(
              CHANNEL_LOCK,
              "a receive under a read lock that the sender wants to write",
              Verdict.LEAK,
              2,
              GoDeadlocksTest::receiveUnderReadLock),
          new Program(
              CHANNEL_LOCK,
              "a send under the lock, and a live fiber tries the lock",
              Verdict.NOT_FOUND,
              2,
              GoDeadlocksTest::sendUnderLockOfLiveFiber),
          new Program(
              CHANNEL_LOCK,
              "a send under the monitor that the receiver wants",
              Verdict.NOT_FOUND,
              2,
              GoDeadlocksTest::sendUnderMonitor),
          new Program(
              WAIT_GROUP,
              "stop waits under the lock that the tasks want",
              Verdict.LEAK,
              2,
              GoDeadlocksTest::stopWaitsUnderLock),
          new Program(
              WAIT_GROUP, "one done is missing", Verdict.LEAK, 1, GoDeadlocksTest::doneIsMissing),
          new Program(
              WAIT_GROUP,
              "a task waits for itself",
              Verdict.LEAK,
              1,
              GoDeadlocksTest::waitsForItself));

  private static final Mutex MUTEX_OF_ALL = new Mutex();
  private static final Channel<String> CHANNEL_OF_ALL = Channel.rendezvous();

  private final Scheduler scheduler =
      Scheduler.builder().threads(2).name("go-deadlocks").build().start();
  private final LogCapture log = new LogCapture();
  private final Map<Program, Verdict> found = new ConcurrentHashMap<>();

  // ---- the programs ----

  private static void callbackLocksAgain(Starter starter) {
    Mutex mutex = new Mutex();
    Body callback =
        () -> {
          mutex.lockInterruptibly();
          mutex.unlock();
        };
    starter.go(
        "renewer",
        () -> {
          mutex.lockInterruptibly();
          try {
            callback.run();
          } finally {
            mutex.unlock();
          }
        });
  }

  private static void writerWritesAgain(Starter starter) {
    SharedMutex mutex = new SharedMutex();
    starter.go(
        "writer",
        () -> {
          mutex.writeLock().lockInterruptibly();
          try {
            mutex.writeLock().lockInterruptibly();
          } catch (IllegalStateException refused) {
            mutex.writeLock().unlock();
          }
        });
  }

  private static void readerBecomesWriter(Starter starter) {
    SharedMutex mutex = new SharedMutex();
    starter.go(
        "upgrader",
        () -> {
          mutex.readLock().lockInterruptibly();
          mutex.writeLock().lockInterruptibly();
        });
  }

  private static void twoMutexes(Starter starter) {
    Mutex first = new Mutex();
    Mutex second = new Mutex();
    CountDownLatch both = new CountDownLatch(2);
    starter.go("left", () -> lockBoth(first, second, both));
    starter.go("right", () -> lockBoth(second, first, both));
  }

  private static void lockBoth(Mutex first, Mutex second, CountDownLatch both) throws Exception {
    first.lockInterruptibly();
    both.countDown();
    both.await();
    second.lockInterruptibly();
  }

  private static void threeKindsOfLocks(Starter starter) {
    Mutex mutex = new Mutex();
    ReentrantLock lock = new ReentrantLock();
    Object monitor = new Object();
    CountDownLatch all = new CountDownLatch(3);
    starter.go(
        "has the mutex",
        () -> {
          mutex.lockInterruptibly();
          all.countDown();
          all.await();
          lock.lockInterruptibly();
        });
    starter.go(
        "has the lock",
        () -> {
          lock.lockInterruptibly();
          all.countDown();
          all.await();
          synchronized (monitor) {
            assertThat(Thread.holdsLock(monitor)).isTrue();
          }
        });
    starter.go(
        "has the monitor",
        () -> {
          synchronized (monitor) {
            all.countDown();
            all.await();
            mutex.lockInterruptibly();
          }
        });
  }

  private static void lockAndJoin(Starter starter) {
    Mutex mutex = new Mutex();
    starter.go(
        "parent",
        () -> {
          mutex.lockInterruptibly();
          Fiber<?> child =
              starter.scheduler.go(
                  FiberOptions.named(starter.program + "/child"), mutex::lockInterruptibly);
          child.join();
        });
  }

  private static void readerReadsAgain(Starter starter) {
    SharedMutex mutex = new SharedMutex();
    CountDownLatch reads = new CountDownLatch(1);
    starter.go(
        "writer",
        () -> {
          reads.await();
          mutex.writeLock().lockInterruptibly();
        });
    starter.go(
        "reader",
        () -> {
          mutex.readLock().lockInterruptibly();
          reads.countDown();
          while (mutex.readLock().tryLock()) { // until the writer waits
            mutex.readLock().unlock();
            Fiber.yield();
          }
          mutex.readLock().lockInterruptibly();
        });
  }

  private static void readersWriteCrosswise(Starter starter) {
    SharedMutex first = new SharedMutex();
    SharedMutex second = new SharedMutex();
    CountDownLatch both = new CountDownLatch(2);
    starter.go("left", () -> readThenWrite(first, second, both));
    starter.go("right", () -> readThenWrite(second, first, both));
  }

  private static void readThenWrite(SharedMutex read, SharedMutex write, CountDownLatch both)
      throws Exception {
    read.readLock().lockInterruptibly();
    both.countDown();
    both.await();
    write.writeLock().lockInterruptibly();
  }

  private static void earlyReturn(Starter starter) {
    Mutex mutex = new Mutex();
    forgetToUnlock(starter, mutex);
  }

  private static void earlyReturnOfGlobal(Starter starter) {
    forgetToUnlock(starter, MUTEX_OF_ALL);
  }

  private static void forgetToUnlock(Starter starter, Mutex mutex) {
    CountDownLatch locked = new CountDownLatch(1);
    starter.go(
        "returns",
        () -> {
          mutex.lockInterruptibly();
          locked.countDown();
        });
    starter.go(
        "next",
        () -> {
          locked.await();
          mutex.lockInterruptibly();
        });
  }

  private static void earlyReturnOfReader(Starter starter) {
    SharedMutex mutex = new SharedMutex();
    CountDownLatch locked = new CountDownLatch(1);
    starter.go(
        "returns",
        () -> {
          mutex.readLock().lockInterruptibly();
          locked.countDown();
        });
    starter.go(
        "next",
        () -> {
          locked.await();
          mutex.writeLock().lockInterruptibly();
        });
  }

  private static void noSender(Starter starter) {
    Channel<String> channel = Channel.rendezvous();
    starter.go("receiver", channel::receive);
  }

  private static void noSenderOfGlobal(Starter starter) {
    starter.go("receiver", CHANNEL_OF_ALL::receive);
  }

  private static void receiverTimedOut(Starter starter) {
    Channel<String> results = Channel.rendezvous();
    CountDownLatch late = new CountDownLatch(1);
    starter.go(
        "asks",
        () -> {
          results.receive(Duration.ofMillis(1));
          late.countDown();
        });
    starter.go(
        "answers",
        () -> {
          late.await();
          results.send("too late");
        });
  }

  private static void neverClosed(Starter starter) {
    Channel<Integer> channel = Channel.buffered(10);
    starter.go(
        "producer",
        () -> {
          for (int i = 0; i < 3; i++) {
            channel.send(i);
          }
        });
    starter.go("consumer", () -> channel.forEach(value -> {}));
  }

  private static void selectForgetsDone(Starter starter) {
    Channel<String> events = Channel.rendezvous();
    Channel<String> updates = Channel.rendezvous();
    Channel<String> done = Channel.rendezvous();
    starter.go("stops", done::close);
    starter.go("loop", () -> Select.of(events.onReceive(e -> e), updates.onReceive(u -> u)));
  }

  private static void loopsSendToEachOther(Starter starter) {
    Channel<String> there = Channel.rendezvous();
    Channel<String> back = Channel.rendezvous();
    starter.go(
        "one",
        () -> {
          there.send("to two");
          back.receive();
        });
    starter.go(
        "two",
        () -> {
          back.send("to one");
          there.receive();
        });
  }

  private static void missedSignal(Starter starter) {
    Mutex mutex = new Mutex();
    ConditionVariable condition = new ConditionVariable();
    CountDownLatch signalled = new CountDownLatch(1);
    starter.go(
        "signals",
        () -> {
          condition.signal();
          signalled.countDown();
        });
    starter.go(
        "waits",
        () -> {
          signalled.await();
          awaitOnce(condition, mutex);
        });
  }

  private static void awaitOnce(ConditionVariable condition, Mutex mutex) throws Exception {
    mutex.lockInterruptibly();
    try {
      condition.await(mutex);
    } finally {
      mutex.unlock();
    }
  }

  private static void aSignalForTwoWaiters(Starter starter) {
    Mutex mutex = new Mutex();
    ConditionVariable condition = new ConditionVariable();
    boolean[] signalled = new boolean[1];
    int[] waiting = new int[1];
    for (int i = 0; i < 2; i++) {
      starter.go(
          "waits",
          () -> {
            mutex.lockInterruptibly();
            try {
              waiting[0]++;
              condition.await(mutex);
            } finally {
              mutex.unlock();
            }
          });
    }
    starter.go(
        "signals",
        () -> {
          while (!signalled[0]) {
            mutex.lockInterruptibly();
            try {
              if (waiting[0] == 2) {
                condition.signal();
                signalled[0] = true;
              }
            } finally {
              mutex.unlock();
            }
            Fiber.yield();
          }
        });
  }

  @SuppressWarnings({"WaitNotInLoop", "NakedNotify"}) // the bug
  private static void missedNotify(Starter starter) {
    Object monitor = new Object();
    CountDownLatch notified = new CountDownLatch(1);
    starter.go(
        "notifies",
        () -> {
          synchronized (monitor) {
            monitor.notifyAll();
          }
          notified.countDown();
        });
    starter.go(
        "waits",
        () -> {
          notified.await();
          synchronized (monitor) {
            monitor.wait();
          }
        });
  }

  private static void sendUnderLock(Starter starter) {
    sendUnderLock(starter, new Mutex());
  }

  private static void sendUnderLockOfLiveFiber(Starter starter) {
    Mutex mutex = new Mutex();
    sendUnderLock(starter, mutex);
    starter.scheduler.go(
        () -> {
          while (true) {
            Fiber.sleep(Duration.ofMillis(5));
            if (mutex.tryLock()) {
              mutex.unlock();
            }
          }
        });
  }

  private static void sendUnderLock(Starter starter, Mutex mutex) {
    Channel<String> tokens = Channel.rendezvous();
    CountDownLatch locked = new CountDownLatch(1);
    starter.go(
        "assigns",
        () -> {
          mutex.lockInterruptibly();
          locked.countDown();
          tokens.send("token");
        });
    starter.go(
        "keeps",
        () -> {
          locked.await();
          mutex.lockInterruptibly(); // to delete old tokens
          mutex.unlock();
          tokens.receive();
        });
  }

  private static void receiveUnderReadLock(Starter starter) {
    SharedMutex mutex = new SharedMutex();
    Channel<String> channel = Channel.rendezvous();
    CountDownLatch locked = new CountDownLatch(1);
    starter.go(
        "reads",
        () -> {
          mutex.readLock().lockInterruptibly();
          locked.countDown();
          channel.receive();
        });
    starter.go(
        "writes",
        () -> {
          locked.await();
          mutex.writeLock().lockInterruptibly();
          channel.send("written");
        });
  }

  private static void sendUnderMonitor(Starter starter) {
    Object monitor = new Object();
    Channel<String> channel = Channel.rendezvous();
    CountDownLatch locked = new CountDownLatch(1);
    starter.go(
        "sends",
        () -> {
          synchronized (monitor) {
            locked.countDown();
            channel.send("value");
          }
        });
    starter.go(
        "receives",
        () -> {
          locked.await();
          synchronized (monitor) {
            channel.receive();
          }
        });
  }

  private static void stopWaitsUnderLock(Starter starter) {
    Mutex mutex = new Mutex();
    WaitGroup tasks = new WaitGroup();
    tasks.add(1);
    CountDownLatch stopping = new CountDownLatch(1);
    starter.go(
        "stops",
        () -> {
          mutex.lockInterruptibly();
          stopping.countDown();
          tasks.await();
        });
    starter.go(
        "task",
        () -> {
          stopping.await();
          mutex.lockInterruptibly();
          tasks.done();
        });
  }

  private static void doneIsMissing(Starter starter) {
    WaitGroup tasks = new WaitGroup();
    tasks.add(2);
    starter.go("task", tasks::done);
    starter.go("waits", () -> tasks.await());
  }

  private static void waitsForItself(Starter starter) {
    WaitGroup tasks = new WaitGroup();
    tasks.add(1);
    starter.go(
        "task",
        () -> {
          try {
            tasks.await();
          } finally {
            tasks.done();
          }
        });
  }

  // ---- what is found ----

  @BeforeAll
  void runAll() {
    scheduler.go(
        FiberOptions.named("unrelated"),
        () -> {
          while (true) {
            Fiber.sleep(Duration.ofMillis(1));
          }
        });
    PROGRAMS.forEach(program -> program.start.accept(new Starter(program.name, scheduler)));
    for (Program program : PROGRAMS) {
      eventually(
          program + " is stuck",
          () -> {
            List<FiberDump.Entry> left = left(program);
            return left.size() == program.stuck
                && left.stream().allMatch(fiber -> fiber.status() == Fiber.Status.WAITING);
          });
    }
    for (Program program : PROGRAMS) {
      if (program.verdict == Verdict.CYCLE) {
        eventually(program + " is reported", () -> isReported(program));
      }
    }
    Set<String> leaked =
        scheduler.leaks().stream()
            .map(fiber -> fiber.name().split("/", 2)[0])
            .collect(Collectors.toCollection(HashSet::new));
    for (Program program : PROGRAMS) {
      found.put(
          program,
          isReported(program)
              ? Verdict.CYCLE
              : leaked.contains(program.name)
                  ? Verdict.LEAK
                  : left(program).isEmpty() ? Verdict.NO_DEADLOCK : Verdict.NOT_FOUND);
    }
  }

  private List<FiberDump.Entry> left(Program program) {
    return scheduler.dump().fibers().stream()
        .filter(fiber -> fiber.name().startsWith(program.name + "/"))
        .toList();
  }

  private boolean isReported(Program program) {
    return !log.entries("deadlock: ", "(" + program.name + "/").isEmpty();
  }

  @AfterAll
  void stop() {
    scheduler.stop(Duration.ofMillis(1));
    log.close();
  }

  private static List<Program> programs() {
    return PROGRAMS;
  }

  @ParameterizedTest
  @MethodSource("programs")
  void eachIsFoundAsItShouldBe(Program program) {
    assertThat(found.get(program)).isEqualTo(program.verdict);
  }

  @Test
  void theTableOfTheDocumentsHasTheCounts() throws IOException {
    Set<String> kinds = new LinkedHashSet<>();
    PROGRAMS.forEach(program -> kinds.add(program.kind));
    List<String> rows = new ArrayList<>();
    for (String kind : kinds) {
      Map<Verdict, Long> counts = new LinkedHashMap<>();
      for (Verdict verdict : Verdict.values()) {
        counts.put(
            verdict,
            PROGRAMS.stream()
                .filter(program -> program.kind.equals(kind) && program.verdict == verdict)
                .count());
      }
      rows.add(
          "| "
              + kind
              + " | "
              + counts.values().stream()
                  .map(count -> count == 0 ? "" : count.toString())
                  .collect(joining(" | "))
              + " |");
    }
    assertThat(Files.readString(TABLE)).contains(rows);
  }
}
