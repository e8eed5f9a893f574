package dev.weft.bench.suite;

import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.ForkedProbe;
import dev.weft.bench.run.Probe;
import dev.weft.internal.timer.TimerNode;
import dev.weft.internal.timer.TimerQueue;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.NullUnmarked;

/** The data structure under all timers, by itself: the wheel that Weft has against a heap. */
public final class TimerQueueBenchmark {
  private static final Metric ADD = new Metric("add", "ns", Metric.Better.LESS);
  private static final Metric REMOVE = new Metric("remove", "ns", Metric.Better.LESS);
  private static final Metric EXPIRE = new Metric("expire", "ns", Metric.Better.LESS);

  private TimerQueueBenchmark() {}

  static Comparison comparison() {
    return Comparison.named(
            "timer-queue", "What an entry costs in Weft's timing wheel, with so many queued.")
        .parameter("queued", 1_000, 1_000_000)
        .metrics(ADD, REMOVE, EXPIRE)
        .contestant("Weft's wheel", ForkedProbe.of(OfWheel.class))
        .contestant("4-ary heap", ForkedProbe.of(OfHeap.class))
        .build();
  }

  /** Uses Weft's queue. */
  @NullUnmarked // create() fills it
  public static final class OfWheel extends Queue {
    private TimerQueue queue;
    private TimerNode[] nodes;
    private int expired;

    private static final class Node extends TimerNode {
      @Override
      public void onExpired() {}
    }

    @Override
    void create(int count) {
      queue = new TimerQueue(0);
      nodes = new TimerNode[count];
      for (int i = 0; i < count; i++) {
        nodes[i] = new Node();
      }
    }

    @Override
    void add(int i, long deadline) {
      queue.add(nodes[i], deadline);
    }

    @Override
    void remove(int i) {
      queue.remove(nodes[i]);
    }

    @Override
    int expireNext() {
      expired = 0;
      queue.expire(queue.nextWake(), node -> expired++);
      return expired;
    }
  }

  /** Uses a heap. */
  @NullUnmarked // create() fills it
  public static final class OfHeap extends Queue {
    private QuadHeap queue;
    private QuadHeap.Node[] nodes;
    private int expired;

    @Override
    void create(int count) {
      queue = new QuadHeap();
      nodes = new QuadHeap.Node[count];
      for (int i = 0; i < count; i++) {
        nodes[i] = new QuadHeap.Node();
      }
    }

    @Override
    void add(int i, long deadline) {
      queue.add(nodes[i], deadline);
    }

    @Override
    void remove(int i) {
      queue.remove(nodes[i]);
    }

    @Override
    int expireNext() {
      expired = 0;
      queue.expire(queue.nextWake(), node -> expired++);
      return expired;
    }
  }

  /** Adds all and removes all in the same order; adds all and lets the time pass. */
  abstract static class Queue implements Probe {
    private static final int WARM_UP = 2_000_000;
    private static final int MEASURED = 5_000_000;

    @Override
    public final Map<String, Double> measure(String parameter, boolean quick) {
      int count = Integer.parseInt(parameter);
      int warmUps = Math.max(2, WARM_UP / count);
      int runs = Math.max(3, (quick ? 1 : 3) * MEASURED / count);
      long[] deadlines = new Random(42).longs(count, 1_000_000_000L, 60_000_000_000L).toArray();
      Samples add = new Samples(runs);
      Samples remove = new Samples(runs);
      Samples expire = new Samples(runs);
      for (int i = -warmUps; i < runs; i++) {
        create(count);
        long start = System.nanoTime();
        addAll(deadlines);
        long added = System.nanoTime();
        for (int k = 0; k < count; k++) {
          remove(k);
        }
        long removed = System.nanoTime();
        addAll(deadlines);
        long addedAgain = System.nanoTime();
        for (int left = count; left > 0; ) {
          left -= expireNext();
        }
        long expired = System.nanoTime();
        if (i >= 0) {
          add.add((double) (added - start) / count);
          remove.add((double) (removed - added) / count);
          expire.add((double) (expired - addedAgain) / count);
        }
      }
      return Map.of(
          ADD.name(), add.median(), REMOVE.name(), remove.median(), EXPIRE.name(), expire.median());
    }

    private void addAll(long[] deadlines) {
      for (int i = 0; i < deadlines.length; i++) {
        add(i, deadlines[i]);
      }
    }

    /** Makes an empty queue, whose time is 0, and so many entries for it. */
    abstract void create(int count);

    abstract void add(int i, long deadline);

    abstract void remove(int i);

    /** Lets the time pass until there is something to do; returns how many entries were due. */
    abstract int expireNext();
  }
}
