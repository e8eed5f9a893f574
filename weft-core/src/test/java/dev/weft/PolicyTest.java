package dev.weft;

import static dev.weft.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The next fiber under each policy: on one thread, unless the test needs several. */
@Feature("S11")
@Timeout(60)
class PolicyTest {
  private static final long MS = 1_000_000;

  /** The fibers of a tree with ten at each node, four levels below the root. */
  private static final int TREE = 11_110;

  private static final long FLOOD_LIMIT = TimeUnit.SECONDS.toNanos(30);

  private final List<Object> order = Collections.synchronizedList(new ArrayList<>());
  private @Nullable Scheduler scheduler;

  /** All fibers run on the test's thread, inside stop(). */
  private void onThisThread(Policy policy) {
    scheduler = Scheduler.builder().threads(1).useCaller(true).policy(policy).build();
  }

  @AfterEach
  void stop() {
    if (scheduler != null) {
      scheduler.stop(Duration.ofSeconds(10));
    }
  }

  private void run() {
    scheduler.start();
    scheduler.stop();
  }

  private static void compute(long nanos) {
    long start = System.nanoTime();
    while (System.nanoTime() - start < nanos) {
      Thread.onSpinWait();
    }
  }

  private Fiber<Void> fiber(String name, int priority, Body body) {
    return scheduler.go(FiberOptions.named(name).priority(priority), body);
  }

  private Fiber<Void> logging(String name, int priority) {
    return fiber(name, priority, () -> order.add(name));
  }

  // ---- fifo ----

  @Test
  void fifoServesInTheOrderOfBecomingReady() {
    onThisThread(Policy.fifo());
    for (String name : List.of("a", "b", "c")) {
      fiber(
          name,
          name.equals("c") ? 100 : 0, // fifo ignores it
          () -> {
            for (int i = 1; i <= 3; i++) {
              order.add(name + i);
              Fiber.yield();
            }
          });
    }
    run();
    assertThat(order).containsExactly("a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3");
  }

  // ---- priority ----

  @Test
  void theHighestPriorityRunsFirstAndEqualPrioritiesAreFifo() {
    onThisThread(Policy.priority());
    logging("low", -3);
    logging("normal 1", 0);
    logging("high 1", 7);
    logging("normal 2", 0);
    logging("high 2", 7);
    run();
    assertThat(order).containsExactly("high 1", "high 2", "normal 1", "normal 2", "low");
  }

  @Test
  void aFiberThatWaitsLongEnoughRunsBeforeNewHigherPriorities() {
    onThisThread(Policy.priority());
    Fiber<?> low = logging("low", 0);
    Fiber<?> high = logging("high", 5);
    assertThat(firstOf(Policy.priority(), low, 0, high, 49 * MS)).isSameAs(high);
    assertThat(firstOf(Policy.priority(), low, 0, high, 50 * MS)).isSameAs(low);
    assertThat(firstOf(Policy.priority(), low, Long.MAX_VALUE - 1, high, Long.MIN_VALUE + 49 * MS))
        .as("when the clock wraps around")
        .isSameAs(high);
  }

  /** Returns the next fiber after both are in the queue, each added at its time. */
  private static @Nullable Fiber<?> firstOf(
      Policy policy, Fiber<?> a, long aTime, Fiber<?> b, long bTime) {
    Policy.ReadyQueue queue = policy.newQueue();
    queue.add(a, aTime);
    queue.add(b, bTime);
    assertThat(queue.size()).isEqualTo(2);
    Fiber<?> first = queue.next(bTime);
    assertThat(queue.next(bTime)).isNotNull().isNotSameAs(first);
    assertThat(queue.next(bTime)).isNull();
    assertThat(queue.size()).isZero();
    return first;
  }

  @Test
  void aFloodOfHighPrioritiesStarvesNoFiber() {
    onThisThread(Policy.priority());
    long start = System.nanoTime();
    for (int i = 0; i < 3; i++) {
      flood(start, 10);
    }
    logging("low", 0);
    run();
    assertThat(order).containsExactly("low");
    assertThat(System.nanoTime() - start)
        .isGreaterThanOrEqualTo(100 * MS) // ten steps of 10 ms
        .isLessThan(FLOOD_LIMIT);
  }

  /** Endless fibers, each starts the next, until another fiber has run. */
  private void flood(long start, int priority) {
    fiber(
        "flood",
        priority,
        () -> {
          if (order.isEmpty() && System.nanoTime() - start < FLOOD_LIMIT) {
            compute(20_000);
            flood(start, priority);
          }
        });
  }

  // ---- response ratio ----

  @Test
  void shortSlicesRunBeforeLongSlices() {
    onThisThread(Policy.responseRatio());
    List<Fiber<?>> waiting = new ArrayList<>();
    for (String name : List.of("long", "short")) {
      waiting.add(
          fiber(
              name,
              0,
              () -> {
                for (int i = 0; i < 5; i++) {
                  compute(name.equals("long") ? 15 * MS : 0);
                  Fiber.suspend();
                }
                order.add(name);
              }));
    }
    fiber(
        "waker",
        0,
        () -> {
          for (int i = 0; i < 5; i++) {
            while (!waiting.stream().allMatch(fiber -> fiber.status() == Fiber.Status.WAITING)) {
              Fiber.yield();
            }
            waiting.forEach(scheduler::schedule); // the fiber with the long slice first
            Fiber.yield();
          }
        });
    run();
    assertThat(order).containsExactly("short", "long");
  }

  @Test
  void aFiberThatWaitsLongEnoughRunsBeforeShorterSlices() {
    onThisThread(Policy.responseRatio());
    Fiber<?> lengthy = logging("long", 0);
    Fiber<?> brief = logging("short", 0);
    Policy.ReadyQueue queue = Policy.responseRatio().newQueue();
    queue.ran(lengthy, 10 * MS);
    queue.ran(brief, 10_000);
    queue.add(lengthy, 0);
    queue.add(brief, 0);
    assertThat(queue.next(MS)).isSameAs(brief); // 123 to 1.1
    queue.add(brief, 100 * MS);
    assertThat(queue.next(100 * MS)).isSameAs(lengthy); // 1 to 13
    assertThat(queue.next(100 * MS)).isSameAs(brief);
    assertThat(queue.next(100 * MS)).isNull();
  }

  /** Clocks are read now and then, and each worker has its own reading. */
  @Test
  void aFiberQueuedAfterTheGivenTimeIsFoundToo() {
    onThisThread(Policy.responseRatio());
    Fiber<?> fiber = logging("fiber", 0);
    Policy.ReadyQueue queue = Policy.responseRatio().newQueue();
    queue.add(fiber, 1_000 * MS);
    assertThat(queue.next(0)).isSameAs(fiber);
  }

  @Test
  void aFloodOfShortSlicesStarvesNoFiber() {
    onThisThread(Policy.responseRatio());
    long start = System.nanoTime();
    fiber(
        "long",
        0,
        () -> {
          for (int i = 0; i < 5; i++) {
            compute(5 * MS);
            Fiber.yield();
          }
          order.add("long");
        });
    for (int i = 0; i < 10; i++) {
      fiber(
          "short",
          0,
          () -> {
            while (order.isEmpty() && System.nanoTime() - start < FLOOD_LIMIT) {
              Fiber.yield();
            }
          });
    }
    run();
    assertThat(order).containsExactly("long");
    assertThat(System.nanoTime() - start).isLessThan(FLOOD_LIMIT);
  }

  // ---- time slice ----

  @Test
  void aFiberOverItsSliceYieldsAtItsNextCallIntoWeft() {
    assertThat(orderWithALongRunner(Policy.timeSlice(Duration.ofMillis(1))))
        .containsExactly(
            "before go",
            "other",
            "after go",
            "before schedule",
            "other",
            "after schedule",
            "before join",
            "other",
            "after join",
            "before timer",
            "other",
            "after timer");
  }

  @Test
  void aFiberWithinItsSliceOrWithoutSlicesDoesNotYield() {
    List<Object> ownTurnFirst =
        List.of(
            "before go",
            "after go",
            "before schedule",
            "after schedule",
            "before join",
            "after join",
            "before timer",
            "after timer",
            "other",
            "other",
            "other",
            "other");
    assertThat(orderWithALongRunner(Policy.timeSlice(Duration.ofHours(1)))).isEqualTo(ownTurnFirst);
    order.clear();
    assertThat(orderWithALongRunner(Policy.fifo())).isEqualTo(ownTurnFirst);
  }

  private List<Object> orderWithALongRunner(Policy policy) {
    onThisThread(policy);
    Fiber<?> done = scheduler.go(() -> {});
    fiber(
        "long runner",
        0,
        () -> {
          longRun("go", () -> Weft.go(() -> {}));
          longRun("schedule", () -> scheduler.schedule(done));
          longRun("join", done::join);
          longRun("timer", () -> scheduler.timers().after(Duration.ofHours(1), () -> {}).cancel());
        });
    fiber(
        "other",
        0,
        () -> {
          for (int i = 0; i < 4; i++) {
            order.add("other");
            Fiber.yield();
          }
        });
    run();
    return order;
  }

  private void longRun(String call, Body body) throws Exception {
    order.add("before " + call);
    compute(3 * MS);
    body.run();
    order.add("after " + call);
  }

  @Test
  void aSliceMustHaveALength() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Policy.timeSlice(Duration.ZERO))
        .withMessage("slice must be positive, not PT0S");
  }

  // ---- work stealing ----

  @Test
  void idleThreadsStealSoThatOneFibersChildrenUseAllThreads() throws Exception {
    assumeTrue(Runtime.getRuntime().availableProcessors() >= 2, "needs two cores");
    Run best = null;
    double ratio = Double.MAX_VALUE;
    for (int round = 0; round < 30 && ratio >= 0.75; round++) {
      long single = children(1).nanos;
      Run both = children(2);
      if ((double) both.nanos / single < ratio) {
        ratio = (double) both.nanos / single;
        best = both;
      }
    }
    assertThat(ratio).as("time on two threads / on one, best of several").isLessThan(0.75);
    assertThat(best.places).containsExactlyInAnyOrder(0, 1);
    assertThat(best.stolen).isPositive();
  }

  private record Run(long nanos, Set<Integer> places, long stolen) {}

  /** Runs forty children of one fiber, which only compute. */
  private static Run children(int threads) throws Exception {
    Scheduler stealing =
        Scheduler.builder().threads(threads).policy(Policy.workStealing()).build().start();
    Set<Integer> places = ConcurrentHashMap.newKeySet();
    Fiber<Long> parent =
        stealing.go(
            () -> {
              long start = System.nanoTime();
              List<Fiber<Integer>> children = new ArrayList<>();
              for (int i = 0; i < 40; i++) {
                children.add(
                    Weft.go(
                        () -> {
                          places.add(Fiber.threadIndex());
                          return IntStream.range(0, 300_000).reduce(1, (a, b) -> a * 31 + b);
                        }));
              }
              for (Fiber<Integer> child : children) {
                child.join();
              }
              return System.nanoTime() - start;
            });
    long nanos = parent.join();
    stealing.stop();
    return new Run(
        nanos, places, stealing.stats().threads().stream().mapToLong(t -> t.stolen()).sum());
  }

  @Test
  void underWorkStealingWokenFibersRunBeforeNewFibers() {
    onThisThread(Policy.workStealing());
    Fiber<Void> sleeper =
        scheduler.go(
            () -> {
              Fiber.suspend();
              order.add("woken");
            });
    scheduler.go(
        () -> {
          scheduler.go(() -> order.add("new"));
          scheduler.schedule(sleeper);
          Fiber.yield();
          order.add("yielded");
        });
    run();
    assertThat(order).containsExactly("woken", "new", "yielded");
  }

  @Test
  void underWorkStealingTwoFibersThatWakeEachOtherStarveNoFiber() {
    onThisThread(Policy.workStealing());
    AtomicBoolean over = new AtomicBoolean();
    Fiber<?>[] pair = new Fiber<?>[2];
    for (int i = 0; i < 2; i++) {
      int other = 1 - i;
      pair[i] =
          scheduler.go(
              () -> {
                while (!over.get()) {
                  scheduler.schedule(pair[other]);
                  Fiber.suspend();
                }
                scheduler.schedule(pair[other]);
              });
    }
    scheduler.go(() -> scheduler.go(() -> over.set(true)));
    run();
    assertThat(over).isTrue();
  }

  @Test
  void underWorkStealingATreeRunsDepthFirst() {
    onThisThread(Policy.workStealing());
    scheduler.go(
        () -> {
          for (String child : List.of("a", "b")) {
            Weft.go(
                () -> {
                  order.add(child);
                  Weft.go(() -> order.add(child + 1));
                  Weft.go(() -> order.add(child + 2));
                });
          }
        });
    scheduler.go(() -> order.add("from elsewhere"));
    run();
    assertThat(order).containsExactly("a", "a1", "a2", "b", "b1", "b2", "from elsewhere");
  }

  @Test
  void withoutAPolicyATreeOnSeveralThreadsKeepsFewFibersAlive() throws Exception {
    assertThat(mostAliveOfATree(Scheduler.builder().threads(2))).isLessThan(TREE / 8);
    assertThat(mostAliveOfATree(Scheduler.builder().threads(2).policy(Policy.fifo())))
        .as("breadth first, for comparison")
        .isGreaterThan(TREE / 4);
  }

  /** Returns how many fibers of a tree of {@link #TREE} were alive at once. */
  private int mostAliveOfATree(Scheduler.Builder builder) throws Exception {
    AtomicInteger alive = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    scheduler = builder.build().start();
    scheduler.go(() -> growTree(4, alive, most)).join();
    scheduler.stop();
    return most.get();
  }

  private static void growTree(int depth, AtomicInteger alive, AtomicInteger most)
      throws Exception {
    List<Fiber<Void>> children = new ArrayList<>();
    for (int i = 0; i < 10 && depth > 0; i++) {
      most.accumulateAndGet(alive.incrementAndGet(), Math::max);
      children.add(
          Weft.go(
              () -> {
                growTree(depth - 1, alive, most);
                alive.decrementAndGet();
              }));
    }
    for (Fiber<Void> child : children) {
      child.join();
    }
  }

  @Test
  void underWorkStealingAnEndlessFamilyStarvesNoFiber() {
    onThisThread(Policy.workStealing());
    CountDownLatch left = new CountDownLatch(3);
    scheduler.go(
        () -> {
          Weft.go(() -> beget(left));
          Weft.go(left::countDown); // older than all the others but one
        });
    scheduler.go(left::countDown);
    scheduler.go(
        () -> {
          Fiber.yield();
          left.countDown();
        });
    run();
    assertThat(left.getCount()).isZero();
  }

  private static void beget(CountDownLatch left) {
    if (left.getCount() > 0) {
      Weft.go(() -> beget(left));
    }
  }

  /**
   * The default policy of several threads, on one thread. The host starts each guest in a slice of
   * its own, as a selector does; its partner wakes it before a guest can begin.
   */
  @Test
  @Feature("S23")
  void underWorkStealingGuestsBeginInTheOrderInWhichTheirHostStartedThem() {
    onThisThread(Policy.workStealing());
    List<String> guests = List.of("a", "b", "c", "d");
    Fiber<?>[] pair = new Fiber<?>[2];
    pair[0] =
        scheduler.go(
            () -> {
              for (String guest : guests) {
                Thread.startVirtualThread(() -> order.add(guest));
                scheduler.schedule(pair[1]);
                Fiber.suspend();
              }
            });
    pair[1] =
        scheduler.go(
            () -> {
              for (int i = 0; i < guests.size(); i++) {
                Fiber.suspend();
                scheduler.schedule(pair[0]);
              }
            });
    run();
    assertThat(order).containsExactly("a", "b", "c", "d");
  }

  @Test
  @Feature("S23")
  void underWorkStealingWokenFibersRunBeforeNewGuests() {
    onThisThread(Policy.workStealing());
    Fiber<Void> sleeper =
        scheduler.go(
            () -> {
              Fiber.suspend();
              order.add("woken");
            });
    scheduler.go(
        () -> {
          Thread.startVirtualThread(() -> order.add("new guest"));
          scheduler.schedule(sleeper);
        });
    run();
    assertThat(order).containsExactly("woken", "new guest");
  }

  @Test
  void aThiefGetsTheOldestFamily() {
    onThisThread(Policy.workStealing());
    Fiber<?> first = scheduler.go(() -> {});
    Fiber<?> second = scheduler.go(() -> {});
    Fiber<?> third = scheduler.go(() -> {});
    Policy.ReadyQueue queue = Policy.workStealing().newQueue();
    queue.addNew(first, 0);
    queue.addNew(second, 0);
    assertThat(queue.next(0)).isSameAs(first);
    queue.addNew(third, 0);
    queue.addYielded(first, 0);
    assertThat(queue.size()).isEqualTo(3);
    assertThat(queue.nextForOther(0)).isSameAs(second);
    assertThat(queue.nextForOther(0)).isSameAs(third);
    assertThat(queue.nextForOther(0)).isSameAs(first);
    assertThat(queue.nextForOther(0)).isNull();
  }

  @Test
  void newFibersArePlacedRoundRobin() {
    for (Policy policy : List.of(Policy.fifo(), Policy.priority(), Policy.responseRatio())) {
      Scheduler dealing = Scheduler.builder().threads(3).policy(policy).build(); // never started
      for (int i = 0; i < 30; i++) {
        dealing.go(() -> {});
      }
      assertThat(dealing.stats().threads()).allMatch(thread -> thread.ready() == 10);
      dealing.stop();
    }
  }

  // ---- a user's policy ----

  /** Last in, first out. */
  private static class LastFirst implements Policy.ReadyQueue {
    private final ArrayDeque<Fiber<?>> fibers = new ArrayDeque<>();

    @Override
    public void add(Fiber<?> fiber, long now) {
      fibers.push(fiber);
    }

    @Override
    public @Nullable Fiber<?> next(long now) {
      return fibers.poll();
    }

    @Override
    public int size() {
      return fibers.size();
    }
  }

  @Test
  void aUsersPolicy() {
    onThisThread(LastFirst::new);
    for (String name : List.of("a", "b", "c")) {
      logging(name, 0);
    }
    run();
    assertThat(order).containsExactly("c", "b", "a");
  }

  /** Records for each fiber the times at which the policy was told that it became ready. */
  private record Stealing(ConcurrentHashMap<Fiber<?>, List<Long>> readySince) implements Policy {
    @Override
    public ReadyQueue newQueue() {
      return new LastFirst() {
        @Override
        public void add(Fiber<?> fiber, long now) {
          readySince
              .computeIfAbsent(fiber, _ -> Collections.synchronizedList(new ArrayList<>()))
              .add(now);
          super.add(fiber, now);
        }
      };
    }

    @Override
    public boolean steals() {
      return true;
    }
  }

  @Test
  void aStolenFiberKeepsTheTimeThatItHasWaited() throws Exception {
    Stealing policy = new Stealing(new ConcurrentHashMap<>());
    scheduler = Scheduler.builder().threads(2).policy(policy).build().start();
    List<Fiber<Void>> children =
        scheduler
            .go(
                () -> {
                  List<Fiber<Void>> begun = new ArrayList<>();
                  for (int i = 0; i < 10; i++) {
                    begun.add(Weft.go(() -> {}));
                  }
                  while (!begun.stream().allMatch(Fiber::isDone)) {
                    compute(MS); // holds its thread: all fibers must be stolen
                  }
                  return begun;
                })
            .join();
    for (Fiber<Void> child : children) {
      assertThat(policy.readySince.get(child))
          .hasSizeGreaterThan(1)
          .satisfies(times -> assertThat(Set.copyOf(times)).hasSize(1));
    }
  }

  /** Throws at every so many calls of the method of this name. */
  private record Failing(String method, boolean steals, AtomicInteger calls) implements Policy {
    void call(String name) {
      if (name.equals(method) && calls.incrementAndGet() % 4 == 2) {
        throw new IllegalStateException("not now");
      }
    }

    @Override
    public ReadyQueue newQueue() {
      return new LastFirst() {
        @Override
        public void add(Fiber<?> fiber, long now) {
          call("add");
          super.add(fiber, now);
        }

        @Override
        public void addNew(Fiber<?> fiber, long now) {
          call("addNew");
          add(fiber, now);
        }

        @Override
        public void addYielded(Fiber<?> fiber, long now) {
          call("addYielded");
          super.add(fiber, now);
        }

        @Override
        public @Nullable Fiber<?> next(long now) {
          call("next");
          return super.next(now);
        }

        @Override
        public @Nullable Fiber<?> nextForOther(long now) {
          call("nextForOther");
          return super.next(now);
        }

        @Override
        public int size() {
          call("size");
          return super.size();
        }

        @Override
        public void ran(Fiber<?> fiber, long nanos) {
          call("ran");
        }
      };
    }

    @Override
    public boolean measuresSlices() {
      return true;
    }
  }

  @ParameterizedTest
  @CsvSource({
    "add,true",
    "add,false",
    "addNew,true",
    "addYielded,true",
    "next,true",
    "next,false",
    "nextForOther,true",
    "size,true",
    "size,false",
    "ran,true"
  })
  void aUsersPolicyThatFailsLosesNoFiber(String method, boolean steals) throws Exception {
    Failing policy = new Failing(method, steals, new AtomicInteger());
    scheduler = Scheduler.builder().threads(2).policy(policy).build().start();
    try (LogCapture log = new LogCapture()) {
      List<Fiber<Void>> fibers = new ArrayList<>();
      scheduler
          .go(
              () -> {
                CountDownLatch ended = new CountDownLatch(8);
                for (int i = 0; i < 8; i++) {
                  fibers.add(
                      Weft.go(
                          () -> {
                            Fiber.yield();
                            ended.countDown();
                          }));
                }
                while (method.equals("nextForOther") && ended.getCount() > 0) {
                  Thread.onSpinWait(); // so that the other thread has to take over the fibers
                }
              })
          .join();
      for (Fiber<Void> fiber : fibers) {
        fiber.join();
      }
      eventually("the failure is logged", () -> !log.entries("goes on after a failure").isEmpty());
      scheduler.stop();
    }
    assertThat(scheduler.stats().ended()).isEqualTo(9);
  }

  @Test
  void aFiberThatAUsersPolicyRejectsHoldsNoOtherUp() throws Exception {
    AtomicBoolean refuses = new AtomicBoolean(true);
    Policy policy =
        () ->
            new LastFirst() {
              @Override
              public void add(Fiber<?> fiber, long now) {
                if (refuses.get() && fiber.name().equals("unwanted")) {
                  throw new IllegalStateException("not this one");
                }
                super.add(fiber, now);
              }
            };
    scheduler = Scheduler.builder().threads(1).policy(policy).build().start();
    try (LogCapture _ = new LogCapture()) {
      Fiber<Void> unwanted = logging("unwanted", 0);
      logging("other", 0).join();
      refuses.set(false);
      unwanted.join();
    }
    assertThat(order).containsExactly("other", "unwanted");
  }

  @Test
  void aUsersPolicyGetsTheLengthOfSlices() {
    List<Long> slices = new ArrayList<>();
    onThisThread(
        new Policy() {
          @Override
          public ReadyQueue newQueue() {
            return new ReadyQueue() {
              private final LastFirst fibers = new LastFirst();

              @Override
              public void add(Fiber<?> fiber, long now) {
                fibers.add(fiber, now);
              }

              @Override
              public @Nullable Fiber<?> next(long now) {
                return fibers.next(now);
              }

              @Override
              public int size() {
                return fibers.size();
              }

              @Override
              public void ran(Fiber<?> fiber, long nanos) {
                slices.add(nanos);
              }
            };
          }

          @Override
          public boolean measuresSlices() {
            return true;
          }
        });
    fiber(
        "a",
        0,
        () -> {
          compute(2 * MS);
          Fiber.yield();
          compute(MS);
        });
    run();
    assertThat(slices).hasSize(2);
    assertThat(slices.get(0)).isGreaterThanOrEqualTo(2 * MS);
    assertThat(slices.get(1)).isGreaterThanOrEqualTo(MS);
  }
}
