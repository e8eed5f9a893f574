package dev.weft.internal.timer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The timer queue against a sorted map as its model. */
@Feature({"T2", "T7"})
class TimerQueueTest {
  private static final int TICK_SHIFT = 17;
  private static final long TICK = 1L << TICK_SHIFT;

  /** The largest time that the queue can represent: 146 years. */
  private static final long HORIZON = 1L << 62;

  /** A wait shorter than this is not rounded up to a tick. */
  private static final long NEAR = 2 * TICK;

  private static final class Node extends TimerNode {
    final long due;

    // its place in the order of adding, and of expiry
    final long number;
    Key key = new Key(0, false, 0);

    Node(long due) {
      this(due, 0);
    }

    Node(long due, long number) {
      this.due = due;
      this.number = number;
    }

    @Override
    public void onExpired() {
      throw new AssertionError("the queue hands out, it does not call");
    }

    @Override
    public String toString() {
      return "node due " + due + " as " + key;
    }
  }

  private record Key(long time, boolean rounded, long number) implements Comparable<Key> {
    @Override
    public int compareTo(Key other) {
      return Comparator.comparingLong(Key::time)
          .thenComparing(Key::rounded)
          .thenComparingLong(Key::number)
          .compare(this, other);
    }
  }

  /** Both queues, with the same operations; times are counted from the origin of the clock. */
  private static final class Both {
    final long origin;
    final TimerQueue queue;
    final TreeMap<Key, Node> model = new TreeMap<>();
    final List<Node> unsorted = new ArrayList<>();
    final List<Node> gone = new ArrayList<>();
    long now;
    private long added;

    Both(long origin) {
      this.origin = origin;
      this.queue = new TimerQueue(origin);
    }

    void add(long deadline) {
      Node node = new Node(deadline, added++);
      unsorted.add(node);
      queue.add(node, origin + deadline);
      assertThat(node.isQueued()).isTrue();
    }

    /** The model's part of the first step of expire() and nextWake(). */
    private void sort() {
      for (Node node : unsorted) {
        boolean rounded = node.due - now >= NEAR;
        long time = rounded ? (node.due + TICK - 1) >> TICK_SHIFT << TICK_SHIFT : node.due;
        node.key = new Key(time, rounded, node.number);
        model.put(node.key, node);
      }
      unsorted.clear();
    }

    List<Node> queued() {
      List<Node> all = new ArrayList<>(model.values());
      all.addAll(unsorted);
      return all;
    }

    long nextWake() {
      sort();
      return queue.nextWake() - origin;
    }

    void remove(Node node) {
      assertThat(queue.remove(node)).isTrue();
      assertThat(node.isQueued()).isFalse();
      assertThat(queue.remove(node)).isFalse();
      if (!unsorted.remove(node)) {
        model.remove(node.key);
      }
      gone.add(node);
    }

    /** Moves the clock, and checks that exactly the due timers expire, in order. */
    void advanceTo(long time) {
      now = time;
      sort();
      List<TimerNode> expired = new ArrayList<>();
      queue.expire(origin + now, expired::add);
      List<Node> expected = new ArrayList<>();
      while (!model.isEmpty() && model.firstKey().time <= now) {
        expected.add(model.pollFirstEntry().getValue());
      }
      assertThat(expired).isEqualTo(expected);
      for (Node node : expected) {
        assertThat(node.due).as("never early").isLessThanOrEqualTo(now);
        assertThat(node.isQueued()).isFalse();
        assertThat(queue.remove(node)).isFalse();
      }
      gone.addAll(expected);
      if (!model.isEmpty()) {
        assertThat(model.firstEntry().getValue().due)
            .as("at most a tick late")
            .isGreaterThan(now - TICK);
      }
      check();
    }

    void check() {
      checkSize();
      long wake = nextWake();
      if (model.isEmpty()) {
        assertThat(wake).isEqualTo(Long.MAX_VALUE - origin);
      } else {
        assertThat(wake).isLessThanOrEqualTo(model.firstKey().time);
      }
    }

    /** Unlike check() it does not make the queue sort its new timers. */
    void checkSize() {
      assertThat(queue.size()).isEqualTo(model.size() + unsorted.size());
    }

    /** Checks that no timer expires before the next wake. */
    void advanceToJustBeforeNextWake() {
      long wake = nextWake();
      if (!model.isEmpty() && wake > now) {
        int size = queue.size();
        advanceTo(wake - 1);
        assertThat(queue.size()).isEqualTo(size);
        assertThat(nextWake()).isEqualTo(wake);
      }
    }
  }

  /** Times of all magnitudes: from nanoseconds to years. */
  private static long anyTime(Random random, long most) {
    return Math.min(random.nextLong() >>> (1 + random.nextInt(63)), most);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, -1, 987_654_321_987L, Long.MAX_VALUE - 1_000_000, Long.MIN_VALUE})
  void behavesLikeASortedMap(long origin) {
    for (int seed = 0; seed < 100; seed++) {
      Random random = new Random(seed);
      Both both = new Both(origin);
      for (int step = 0; step < 400; step++) {
        int choice = random.nextInt(100);
        if (choice < 40) {
          both.add(both.now + anyTime(random, HORIZON - both.now));
        } else if (choice < 50) {
          both.add(both.now - anyTime(random, both.now));
        } else if (choice < 70 && both.queue.size() > 0) {
          List<Node> candidates = both.queued();
          both.remove(candidates.get(random.nextInt(candidates.size())));
        } else if (choice < 98) {
          both.advanceTo(both.now + anyTime(random, (HORIZON - both.now) >> 8));
        } else {
          both.advanceToJustBeforeNextWake();
        }
        both.checkSize();
        if (random.nextInt(4) == 0) {
          both.check();
        }
      }
      assertThat(both.queue.size() + both.gone.size()).isEqualTo(both.added);
      both.advanceTo(HORIZON);
      assertThat(both.queue.size()).isZero();
    }
  }

  @Test
  void wakingAtNextWakeMissesNoTimerAndDoesNotWakeTooOften() {
    for (int seed = 0; seed < 200; seed++) {
      Random random = new Random(seed);
      Both both = new Both(random.nextLong());
      int nodes = 50;
      for (int i = 0; i < nodes; i++) {
        both.add(anyTime(random, HORIZON));
      }
      int wakes = 0;
      while (both.queue.size() > 0) {
        long at = Math.max(both.now, both.nextWake());
        Node first = both.model.firstEntry().getValue();
        both.advanceToJustBeforeNextWake();
        both.advanceTo(at);
        if (!first.isQueued()) {
          assertThat(at - first.due).isLessThan(TICK);
        }
        wakes++;
      }
      assertThat(wakes).isLessThanOrEqualTo(6 * nodes); // a node goes down a level at each wake
    }
  }

  @Test
  void ticksWithinOneSlotAndAcrossAllLevelsKeepTheirOrder() {
    Both both = new Both(5);
    for (int level = 5; level >= 0; level--) {
      for (int digit = 255; digit >= 0; digit--) {
        long tick = (long) digit << (8 * level);
        if (tick < HORIZON >> TICK_SHIFT) {
          both.add(tick << TICK_SHIFT);
          both.add((tick << TICK_SHIFT) + 1);
        }
      }
    }
    for (int bits = 0; bits <= 62; bits++) {
      both.advanceTo(Math.max(both.now, (1L << bits) - 1));
      both.advanceTo(Math.max(both.now, 1L << bits));
    }
    assertThat(both.queue.size()).isZero();
  }

  @Test
  void anOverdueTimerExpiresAtTheNextLook() {
    Both both = new Both(0);
    both.advanceTo(1_000_000_000);
    both.add(0);
    both.add(-5);
    both.add(999_999_999);
    assertThat(both.nextWake()).isLessThanOrEqualTo(1_000_000_000);
    both.advanceTo(1_000_000_000 + TICK);
    assertThat(both.gone).hasSize(3);
  }

  /**
   * So many timers in so few slots that most removals leave holes, which are closed, and some
   * remove the last timer.
   */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 9, 100, 5_000})
  void remainingTimersKeepTheirOrderWhenOthersAreRemoved(int nodes) {
    for (int seed = 0; seed < 20; seed++) {
      Random random = new Random(seed);
      Both both = new Both(seed);
      for (int round = 0; round < 4; round++) {
        for (int i = 0; i < nodes; i++) {
          both.add(both.now + random.nextLong(200 * TICK));
        }
        List<Node> queued = both.queued();
        Collections.shuffle(queued, random);
        int leaving = random.nextInt(queued.size() + 1);
        if (round % 2 == 0) {
          both.check(); // also sorts the new timers; otherwise removes from the unsorted list
        }
        queued.subList(0, leaving).forEach(both::remove);
        both.check();
        both.advanceTo(both.now + random.nextLong(100 * TICK));
      }
      both.advanceTo(both.now + 300 * TICK);
      assertThat(both.queue.size()).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void timersThatComeAndGoWhileOthersStayNeedNoMoreRoom(boolean sorted) {
    TimerQueue queue = new TimerQueue(0);
    queue.add(new Node(1), TICK << 20);
    for (int i = 0; i < 10_000_000; i++) {
      Node first = new Node(i);
      Node second = new Node(i);
      queue.add(first, TICK << 20);
      queue.add(second, TICK << 20);
      if (sorted) {
        queue.nextWake();
      }
      queue.remove(first);
      queue.remove(second);
    }
    assertThat(queue.places()).isLessThan(64);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 100, 10_000, 50_000, TICK - 1, TICK, TICK + 1, 200_000, NEAR - 1})
  void aShortWaitEndsAtItsDeadlineWhereverInATickItBegins(long wait) {
    for (long start = 0; start <= TICK; start += TICK / 64) {
      Both both = new Both(start);
      both.add(5 * TICK); // a long wait, which is rounded up
      both.advanceTo(start);
      both.add(start + wait);
      assertThat(both.nextWake()).isEqualTo(start + wait);
      both.advanceTo(start + wait - 1);
      assertThat(both.queue.size()).isEqualTo(2);
      both.advanceTo(start + wait);
      assertThat(both.queue.size()).isEqualTo(1);
    }
  }

  @Test
  void aShortWaitAfterALongPauseIsShortToo() {
    Both both = new Both(7);
    both.add(0);
    both.advanceTo(1_000 * TICK);
    both.now += 50 * TICK + 1; // a long slice, after which the fiber sleeps for 100 ns
    both.add(both.now + 100);
    both.advanceTo(both.now);
    assertThat(both.nextWake()).isEqualTo(both.now + 100);
  }

  @Test
  void nearTimersThatExpireTogetherKeepTheirOrderAndCancelledTimersAreGone() {
    for (int seed = 0; seed < 200; seed++) {
      Random random = new Random(seed);
      Both both = new Both(random.nextLong());
      for (int round = 0; round < 5; round++) {
        for (int i = random.nextInt(200); i >= 0; i--) {
          both.add(both.now + random.nextLong(30) * 10_000);
        }
        both.check();
        List<Node> queued = both.queued();
        Collections.shuffle(queued, random);
        queued.subList(0, random.nextInt(queued.size() + 1)).forEach(both::remove);
        both.check();
        both.advanceTo(both.now + random.nextLong(200_000));
      }
      both.advanceTo(both.now + 400_000);
      assertThat(both.queue.size()).isZero();
    }
  }
}
