package dev.weft.internal.timer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The timing wheel against a sorted map that knows what it should do. */
@Feature({"T2", "T7"})
class TimerQueueTest {
  private static final int TICK_SHIFT = 17;
  private static final long TICK = 1L << TICK_SHIFT;

  /** As far as the queue can tell times apart: 146 years. */
  private static final long HORIZON = 1L << 62;

  private static final class Node extends TimerNode {
    final long due;

    // its place in the order of expiry: tick, then number
    Key key = new Key(0, 0);

    Node(long due) {
      this.due = due;
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

  private record Key(long tick, long number) implements Comparable<Key> {
    @Override
    public int compareTo(Key other) {
      return tick != other.tick
          ? Long.compare(tick, other.tick)
          : Long.compare(number, other.number);
    }
  }

  /** Both queues, always given the same; times are counted from the origin of the clock. */
  private static final class Both {
    final long origin;
    final TimerQueue queue;
    final TreeMap<Key, Node> model = new TreeMap<>();
    final List<Node> gone = new ArrayList<>();
    long now;
    private long served;
    private long added;

    Both(long origin) {
      this.origin = origin;
      this.queue = new TimerQueue(origin);
    }

    void add(long deadline) {
      Node node = new Node(deadline);
      long rounded = deadline <= 0 ? 0 : (deadline + TICK - 1) >> TICK_SHIFT;
      node.key = new Key(Math.max(rounded, served >> TICK_SHIFT), added++);
      model.put(node.key, node);
      queue.add(node, origin + deadline);
      assertThat(node.isQueued()).isTrue();
    }

    void remove(Node node) {
      assertThat(queue.remove(node)).isTrue();
      assertThat(node.isQueued()).isFalse();
      assertThat(queue.remove(node)).isFalse();
      model.remove(node.key);
      gone.add(node);
    }

    /** Moves the clock, and checks that exactly what is due comes out, in order. */
    void advanceTo(long time) {
      now = time;
      List<TimerNode> expired = new ArrayList<>();
      queue.expire(origin + now, expired::add);
      served = now;
      List<Node> expected = new ArrayList<>();
      while (!model.isEmpty() && model.firstKey().tick << TICK_SHIFT <= now) {
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
      if (model.isEmpty()) {
        assertThat(queue.nextWake()).isEqualTo(Long.MAX_VALUE);
        return;
      }
      assertThat(queue.nextWake() - origin)
          .isLessThanOrEqualTo(model.firstKey().tick << TICK_SHIFT);
    }

    /** Unlike check() it does not make the queue sort what is new in it. */
    void checkSize() {
      assertThat(queue.size()).isEqualTo(model.size());
    }

    /** Checks that before the next wake there is nothing to do. */
    void advanceToJustBeforeNextWake() {
      long wake = queue.nextWake() - origin;
      if (!model.isEmpty() && wake > now) {
        int size = queue.size();
        advanceTo(wake - 1);
        assertThat(queue.size()).isEqualTo(size);
        assertThat(queue.nextWake() - origin).isEqualTo(wake);
      }
    }
  }

  /** Times of all sizes alike: from nanoseconds to years. */
  private static long anyTime(Random random, long most) {
    return Math.min(random.nextLong() >>> (1 + random.nextInt(63)), most);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, -1, 987_654_321_987L, Long.MAX_VALUE - 1_000_000, Long.MIN_VALUE})
  void doesWhatASortedMapDoes(long origin) {
    for (int seed = 0; seed < 100; seed++) {
      Random random = new Random(seed);
      Both both = new Both(origin);
      List<Node> candidates = new ArrayList<>();
      for (int step = 0; step < 400; step++) {
        int choice = random.nextInt(100);
        if (choice < 40) {
          both.add(both.now + anyTime(random, HORIZON - both.now));
        } else if (choice < 50) {
          both.add(both.now - anyTime(random, both.now));
        } else if (choice < 70 && !both.model.isEmpty()) {
          candidates.clear();
          candidates.addAll(both.model.values());
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
      assertThat(both.model.size() + both.gone.size()).isEqualTo(both.added);
      both.advanceTo(HORIZON);
      assertThat(both.queue.size()).isZero();
    }
  }

  @Test
  void wakingWheneverToldToMissesNothingAndDoesNotWakeTooOften() {
    for (int seed = 0; seed < 200; seed++) {
      Random random = new Random(seed);
      Both both = new Both(random.nextLong());
      int nodes = 50;
      for (int i = 0; i < nodes; i++) {
        both.add(anyTime(random, HORIZON));
      }
      int wakes = 0;
      while (both.queue.size() > 0) {
        long at = Math.max(both.now, both.queue.nextWake() - both.origin);
        Node first = both.model.firstEntry().getValue();
        both.advanceToJustBeforeNextWake();
        both.advanceTo(at);
        if (!first.isQueued()) {
          assertThat(at - first.due).isLessThan(TICK);
        }
        wakes++;
      }
      assertThat(wakes).isLessThanOrEqualTo(6 * nodes); // a node goes down a level at each
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
  void whatIsDueAlreadyExpiresNextTime() {
    Both both = new Both(0);
    both.advanceTo(1_000_000_000);
    both.add(0);
    both.add(-5);
    both.add(999_999_999);
    assertThat(both.queue.nextWake()).isLessThanOrEqualTo(1_000_000_000);
    both.advanceTo(1_000_000_000 + TICK);
    assertThat(both.gone).hasSize(3);
  }

  /** So many in so few slots that most leave holes, which are closed, and some are the last. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 9, 100, 5_000})
  void thoseThatStayKeepTheirOrderWhenOthersAreTakenFromAmongThem(int nodes) {
    for (int seed = 0; seed < 20; seed++) {
      Random random = new Random(seed);
      Both both = new Both(seed);
      List<Node> queued = new ArrayList<>();
      for (int round = 0; round < 4; round++) {
        for (int i = 0; i < nodes; i++) {
          both.add(both.now + random.nextLong(200 * TICK));
        }
        queued.clear();
        queued.addAll(both.model.values());
        Collections.shuffle(queued, random);
        int leaving = random.nextInt(queued.size() + 1);
        if (round % 2 == 0) {
          both.check(); // and sort them; or take them from among those that are unsorted
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
  void whatComesAndGoesWhileOthersStayNeedsNoMoreRoom(boolean sorted) {
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
}
