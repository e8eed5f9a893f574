package dev.weft;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.channel.Channel;
import dev.weft.channel.ChannelClosedException;
import dev.weft.sync.Mutex;
import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Fibers with equal stacks and waits are one group; troubles come first. */
@Feature("O2")
@Timeout(30)
class GroupedDumpTest {
  private final List<Scheduler> schedulers = new ArrayList<>();

  /** Fibers that a failed test leaves behind would hide the deadlocks that later tests wait for. */
  @AfterEach
  void stopWhatAFailureLeft() {
    schedulers.forEach(scheduler -> scheduler.stop(Duration.ZERO));
  }

  private Scheduler start(Scheduler.Builder builder) {
    Scheduler scheduler = builder.build().start();
    schedulers.add(scheduler);
    return scheduler;
  }

  /** Waits until the channel is closed. */
  private static void receive(Channel<Integer> from) throws InterruptedException {
    try {
      from.receive();
    } catch (ChannelClosedException e) {
      // the end of the test
    }
  }

  private static List<Fiber<?>> receivers(Scheduler scheduler, Channel<Integer> from, int many) {
    List<Fiber<?>> fibers = new ArrayList<>();
    for (int i = 0; i < many; i++) {
      Fiber<Void> fiber = scheduler.go(FiberOptions.named("receiver"), () -> receive(from));
      waits(fiber);
      fibers.add(fiber);
    }
    return fibers;
  }

  @Test
  void equalStacksAndWaitsAreOneGroupAndTheLargestComesFirst() throws Exception {
    Scheduler scheduler = start(Scheduler.builder().threads(2).name("grouped"));
    Channel<Integer> channel = Channel.rendezvous();
    Fiber<Void> sleeper = scheduler.go(() -> Fiber.sleep(Duration.ofHours(1)));
    waits(sleeper);
    List<Fiber<?>> receivers = receivers(scheduler, channel, 20);
    // @start region="groups"
    GroupedDump dump = scheduler.groupedDump();
    System.out.println(dump.text());
    for (GroupedDump.Group group : dump.groups()) {
      System.out.println(group.fibers() + " fibers like " + group.longest().name());
    }
    // @end
    assertThat(dump.fibers()).isEqualTo(21);
    assertThat(dump.stats().waiting()).isEqualTo(20);
    assertThat(dump.stats().sleeping()).isEqualTo(1);
    assertThat(dump.ungrouped()).isZero();
    assertThat(dump.groups()).extracting(GroupedDump.Group::fibers).containsExactly(20L, 1L);
    GroupedDump.Group largest = dump.groups().getFirst();
    assertThat(largest.same()).isTrue();
    // Any of the receivers: a worker reads the clock once for each batch of slices, so the wait of
    // a fiber may seem to begin as early as the batch in which its slice ran.
    Fiber<?> longest =
        receivers.stream()
            .filter(fiber -> fiber.id() == largest.longest().id())
            .findAny()
            .orElseThrow();
    assertThat(largest.longest().stack())
        .as("the frames are those of the thread")
        .containsExactly(longest.thread().getStackTrace());
    assertThat(largest.summary())
        .matches(
            "20 fibers wait for a value from channel \\d+ \\(rendezvous\\), for [\\d,]+ ms(?: to"
                + " [\\d,]+ ms)?; the longest is fiber \\d+ receiver");
    assertThat(dump.text().lines().toList())
        .startsWith(
            "scheduler grouped: 21 fibers on 2 threads: 0 ready, 0 running, 1 sleeping, 20"
                + " waiting, 0 in blocking calls, 0 waiting for a helper")
        .anyMatch(line -> line.startsWith("    at dev.weft.GroupedDumpTest.receive("))
        .noneMatch(line -> line.contains("dev.weft.internal"));

    channel.close();
    sleeper.cancel();
    scheduler.stop();
    assertThat(scheduler.groupedDump().fibers()).isZero();
  }

  @Test
  void equalStacksThatWaitForDifferentObjectsAreAGroupThatSaysSo() throws Exception {
    Scheduler scheduler = start(Scheduler.builder().threads(1));
    List<Channel<Integer>> channels = List.of(Channel.rendezvous(), Channel.rendezvous());
    channels.forEach(channel -> receivers(scheduler, channel, 3));
    GroupedDump.Group group = scheduler.groupedDump().groups().getFirst();
    assertThat(group.fibers()).isEqualTo(6);
    assertThat(group.same()).isFalse();
    assertThat(group.summary()).startsWith("6 fibers wait for ").contains("the longest is fiber ");
    channels.forEach(Channel::close);
    scheduler.stop();
  }

  @Test
  void theHolderOfALockComesBeforeTheGroups() throws Exception {
    Scheduler scheduler = start(Scheduler.builder().threads(2));
    Mutex mutex = new Mutex();
    CountDownLatch release = new CountDownLatch(1);
    Fiber<Void> holder =
        scheduler.go(
            FiberOptions.named("holder"),
            () -> {
              mutex.lock();
              try {
                release.await();
              } finally {
                mutex.unlock();
              }
            });
    waits(holder);
    for (int i = 0; i < 5; i++) {
      waits(scheduler.go(() -> lockOnce(mutex)));
    }
    GroupedDump dump = scheduler.groupedDump();
    assertThat(dump.holders()).hasSize(1);
    GroupedDump.Holder wanted = dump.holders().getFirst();
    assertThat(wanted.waiters()).isEqualTo(5);
    assertThat(wanted.holder()).contains("fiber " + holder.id() + " (holder) WAITING");
    assertThat(wanted.stack()).anyMatch(frame -> frame.getMethodName().equals("await"));
    assertThat(dump.text().lines().skip(1).findFirst())
        .hasValueSatisfying(
            line -> assertThat(line).startsWith("wanted: 5 fibers wait for ").contains("mutex"));
    release.countDown();
    scheduler.stop();
  }

  @Test
  void aCycleOfLocksComesFirst() throws Exception {
    Scheduler scheduler = start(Scheduler.builder().threads(2));
    Mutex left = new Mutex();
    Mutex right = new Mutex();
    Fiber<Void> one = scheduler.go(FiberOptions.named("one"), () -> lockBoth(left, right));
    waits(one);
    Fiber<Void> two = scheduler.go(FiberOptions.named("two"), () -> lockBoth(right, left));
    waits(two);
    scheduler.schedule(one);
    scheduler.schedule(two);
    eventually("the cycle is found", () -> !scheduler.groupedDump().cycles().isEmpty());
    GroupedDump dump = scheduler.groupedDump();
    assertThat(dump.cycles()).hasSize(1);
    assertThat(dump.cycles().getFirst())
        .extracting(FiberDump.Entry::name)
        .containsExactlyInAnyOrder("one", "two");
    assertThat(dump.text().lines().skip(1).findFirst())
        .hasValue("deadlock: 2 fibers wait for each other");
    one.cancel();
    two.cancel();
    eventually("the cycle is gone", () -> scheduler.groupedDump().cycles().isEmpty());
    scheduler.stop();
  }

  private static void lockOnce(Mutex mutex) throws InterruptedException {
    mutex.lockInterruptibly();
    try {
      assertThat(mutex.isLocked()).isTrue();
    } finally {
      mutex.unlock();
    }
  }

  private static void lockBoth(Mutex first, Mutex second) throws InterruptedException {
    first.lock();
    try {
      Fiber.suspend();
      lockOnce(second);
    } finally {
      first.unlock();
    }
  }

  @Test
  void aFiberThatHoldsItsThreadComesFirst() throws Exception {
    Scheduler scheduler = start(Scheduler.builder().threads(2));
    AtomicBoolean over = new AtomicBoolean();
    Fiber<Void> hog = scheduler.go(FiberOptions.named("hog"), () -> spinUntil(over));
    eventually("the watchdog has noticed", () -> !scheduler.groupedDump().heldThreads().isEmpty());
    GroupedDump dump = scheduler.groupedDump();
    GroupedDump.HeldThread held = dump.heldThreads().getFirst();
    assertThat(held.fiber().id()).isEqualTo(hog.id());
    assertThat(held.running()).isGreaterThanOrEqualTo(Duration.ofMillis(10));
    assertThat(held.fiber().stack()).anyMatch(f -> f.getMethodName().equals("spinUntil"));
    assertThat(dump.text())
        .contains("held thread: fiber " + hog.id() + " (hog) has run on thread ")
        .contains("at dev.weft.GroupedDumpTest.spinUntil(");
    over.set(true);
    scheduler.stop();
  }

  private static void spinUntil(AtomicBoolean over) {
    while (!over.get()) {
      Thread.onSpinWait();
    }
  }

  @Test
  void asJsonItCanBeParsed() throws Exception {
    Scheduler scheduler = start(Scheduler.builder().threads(1).name("a \"name\""));
    Channel<Integer> channel = Channel.rendezvous();
    receivers(scheduler, channel, 3);
    Map<?, ?> json = (Map<?, ?>) Json.parse(scheduler.groupedDump().json());
    assertThat(json.get("scheduler")).isEqualTo("a \"name\"");
    assertThat(json.get("fibers")).isEqualTo(3.0);
    assertThat((List<?>) json.get("deadlocks")).isEmpty();
    Map<?, ?> group = (Map<?, ?>) ((List<?>) json.get("groups")).getFirst();
    assertThat(group.get("fibers")).isEqualTo(3.0);
    Map<?, ?> longest = (Map<?, ?>) group.get("longest");
    assertThat(longest.get("name")).isEqualTo("receiver");
    assertThat((List<?>) longest.get("stack")).isNotEmpty();
    channel.close();
    scheduler.stop();
  }

  @Test
  void ofMoreDifferentStacksThanADumpKeepsTheLargestGroupStillComesFirst() throws Exception {
    Scheduler scheduler = start(Scheduler.builder().threads(1));
    Channel<Integer> channel = Channel.rendezvous();
    int different = 5_000;
    for (int i = 0; i < different; i++) {
      int path = i;
      scheduler.go(() -> nest(channel, path, 13));
    }
    int equal = 5_500;
    for (int i = 0; i < equal; i++) {
      scheduler.go(() -> receive(channel));
    }
    eventually("all wait", () -> scheduler.stats().waiting() == different + equal);
    GroupedDump dump = scheduler.groupedDump();
    assertThat(dump.fibers()).isEqualTo(different + equal);
    assertThat(dump.groups()).hasSizeLessThanOrEqualTo(1_024);
    assertThat(dump.ungrouped()).isPositive();
    assertThat(dump.groups().getFirst().fibers()).isBetween(equal - 10L, (long) equal);
    assertThat(dump.text().lines().count()).isLessThan(250);
    channel.close();
    scheduler.stop();
  }

  /** Waits with a stack that no other path has: at each level a bit of it tells the line. */
  @SuppressWarnings("DuplicateBranches") // on different lines
  private static void nest(Channel<Integer> channel, int path, int levels)
      throws InterruptedException {
    if (levels == 0) {
      receive(channel);
    } else if ((path & 1) == 0) {
      nest(channel, path >> 1, levels - 1);
    } else {
      nest(channel, path >> 1, levels - 1);
    }
  }
}
