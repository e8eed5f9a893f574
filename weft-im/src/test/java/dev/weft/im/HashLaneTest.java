package dev.weft.im;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** The way to hashes: narrow, bounded, and fair among places. */
@Feature("A4")
class HashLaneTest {
  private static final Duration LONG = Duration.ofSeconds(30);

  private final List<String> order = new CopyOnWriteArrayList<>();
  private final CountDownLatch started = new CountDownLatch(1);
  private final CountDownLatch gate = new CountDownLatch(1);

  private Fiber<Boolean> occupy(HashLane lane) throws InterruptedException {
    Fiber<Boolean> first =
        Scheduler.shared()
            .go(
                () ->
                    lane.run(
                        "attacker",
                        () -> {
                          started.countDown();
                          gate.await();
                          return true;
                        }));
    started.await();
    return first;
  }

  private Fiber<Boolean> call(HashLane lane, String place, String name) throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    Fiber<Boolean> fiber =
        Scheduler.shared()
            .go(
                () -> {
                  begun.countDown();
                  return lane.run(place, () -> order.add(name));
                });
    begun.await();
    while (lane.waiting() < expected) {
      Thread.onSpinWait();
    }
    expected++;
    return fiber;
  }

  private int expected = 1;

  @Test
  void placesTakeTurns() throws Exception {
    HashLane lane = new HashLane(1, 100, LONG);
    List<Fiber<Boolean>> all = new ArrayList<>();
    all.add(occupy(lane));
    for (int i = 0; i < 5; i++) {
      all.add(call(lane, "attacker", "a" + i));
    }
    all.add(call(lane, "home", "h0"));
    all.add(call(lane, "home", "h1"));
    all.add(call(lane, "office", "o0"));
    gate.countDown();
    for (Fiber<Boolean> fiber : all) {
      assertThat(fiber.join()).isTrue();
    }
    assertThat(order).containsExactly("a0", "h0", "o0", "a1", "h1", "a2", "a3", "a4");
    assertThat(lane.run("x", () -> 7)).isEqualTo(7);
  }

  /** One line has 65,536 networks of 64 bits: they have one turn, and take turns for it. */
  @Test
  void aSiteOfIpv6HasOneTurn() throws Exception {
    HashLane lane = new HashLane(1, 100, LONG);
    List<Fiber<Boolean>> all = new ArrayList<>();
    all.add(occupy(lane));
    for (int i = 0; i < 3; i++) {
      all.add(call(lane, "2001:db8:7:%x:0:0:0:0/64".formatted(i), "site" + i));
    }
    all.add(call(lane, "2001:db8:7:0:0:0:0:0/64", "site0 again"));
    all.add(call(lane, "2001:db8:8:0:0:0:0:0/64", "neighbour"));
    all.add(call(lane, "192.0.2.1", "home"));
    gate.countDown();
    for (Fiber<Boolean> fiber : all) {
      assertThat(fiber.join()).isTrue();
    }
    assertThat(order)
        .containsExactly("site0", "neighbour", "home", "site1", "site2", "site0 again");
  }

  /** A caller of a place with a short queue always finds room, at the expense of the longest. */
  @Test
  void aFullLaneDropsTheNewestOfTheLongestQueue() throws Exception {
    HashLane lane = new HashLane(1, 6, LONG);
    Fiber<Boolean> first = occupy(lane);
    List<Fiber<Boolean>> flood = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      flood.add(call(lane, "192.0.2.9", "a" + i));
    }
    for (int i = 0; i < 4; i++) {
      flood.add(call(lane, "2001:db8:7:%x:0:0:0:0/64".formatted(i), "b" + i));
    }
    Fiber<Boolean> home = Scheduler.shared().go(() -> lane.run("home", () -> order.add("home")));
    assertThatThrownBy(() -> flood.get(5).join()).hasRootCauseInstanceOf(Refusal.class); // b3
    Fiber<Boolean> office =
        Scheduler.shared().go(() -> lane.run("office", () -> order.add("office")));
    assertThatThrownBy(() -> flood.get(4).join()).hasRootCauseInstanceOf(Refusal.class); // b2
    assertThatThrownBy(() -> lane.run("192.0.2.9", () -> 1)).isInstanceOf(Refusal.class);
    assertThat(lane.waiting()).isEqualTo(6);
    gate.countDown();
    assertThat(first.join()).isTrue();
    assertThat(home.join()).isTrue();
    assertThat(office.join()).isTrue();
    for (Fiber<Boolean> fiber : flood.subList(0, 4)) {
      assertThat(fiber.join()).isTrue();
    }
    assertThat(order).containsExactly("a0", "b0", "home", "office", "a1", "b1");
    assertThat(lane.waiting()).isZero();
    assertThat(lane.run("x", () -> 7)).isEqualTo(7);
  }

  @Test
  void tooManyOrTooLongIsRefused() throws Exception {
    HashLane lane = new HashLane(1, 1, Duration.ofMillis(50));
    Fiber<Boolean> first = occupy(lane);
    assertThatThrownBy(() -> lane.run("a", () -> 1)).isInstanceOf(Refusal.class); // 50 ms
    Fiber<Boolean> waits = Scheduler.shared().go(() -> lane.run("a", () -> true));
    while (lane.waiting() == 0 && !waits.isDone()) {
      Thread.onSpinWait();
    }
    if (lane.waiting() == 1) { // else its 50 ms are over already
      assertThatThrownBy(() -> lane.run("b", () -> 1)).isInstanceOf(Refusal.class);
    }
    gate.countDown();
    first.join();
    assertThat(lane.run("a", () -> 2)).isEqualTo(2);
  }
}
