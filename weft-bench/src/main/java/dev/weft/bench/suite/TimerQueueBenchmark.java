package dev.weft.bench.suite;

import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.ForkedProbe;
import dev.weft.bench.run.Probe;
import dev.weft.internal.timer.TimerNode;
import dev.weft.internal.timer.TimerQueue;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;

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

  /** A queue of timers; its time is 0 at first. */
  interface Queue<N> {
    void add(N node, long deadline);

    boolean remove(N node);

    /** Returns the time until which there is nothing to do. */
    long nextWake();

    void expire(long now, Consumer<N> due);
  }

  /** Uses Weft's queue. */
  public static final class OfWheel extends AddRemoveExpire<TimerNode> {
    public OfWheel() {
      super(() -> new Wheel(new TimerQueue(0)), Node::new);
    }

    private static final class Node extends TimerNode {
      @Override
      public void onExpired() {}
    }

    private record Wheel(TimerQueue queue) implements Queue<TimerNode> {
      @Override
      public void add(TimerNode node, long deadline) {
        queue.add(node, deadline);
      }

      @Override
      public boolean remove(TimerNode node) {
        return queue.remove(node);
      }

      @Override
      public long nextWake() {
        return queue.nextWake();
      }

      @Override
      public void expire(long now, Consumer<TimerNode> due) {
        queue.expire(now, due);
      }
    }
  }

  /** Uses a heap. */
  public static final class OfHeap extends AddRemoveExpire<QuadHeap.Node> {
    public OfHeap() {
      super(QuadHeap::new, QuadHeap.Node::new);
    }
  }

  /** Adds all and removes all in the same order; adds all and lets the time pass. */
  abstract static class AddRemoveExpire<N> implements Probe {
    private static final int WARM_UP = 2_000_000;
    private static final int MEASURED = 5_000_000;

    private final Supplier<Queue<N>> newQueue;
    private final Supplier<N> newNode;
    private int left;

    AddRemoveExpire(Supplier<Queue<N>> newQueue, Supplier<N> newNode) {
      this.newQueue = newQueue;
      this.newNode = newNode;
    }

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
        Queue<N> queue = newQueue.get();
        List<N> nodes = Stream.generate(newNode).limit(count).toList();
        long start = System.nanoTime();
        addAll(queue, nodes, deadlines);
        long added = System.nanoTime();
        for (int k = 0; k < count; k++) {
          queue.remove(nodes.get(k));
        }
        long removed = System.nanoTime();
        addAll(queue, nodes, deadlines);
        left = count;
        long addedAgain = System.nanoTime();
        while (left > 0) {
          queue.expire(queue.nextWake(), _ -> left--);
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

    private static <N> void addAll(Queue<N> queue, List<N> nodes, long[] deadlines) {
      for (int i = 0; i < deadlines.length; i++) {
        queue.add(nodes.get(i), deadlines[i]);
      }
    }
  }
}
