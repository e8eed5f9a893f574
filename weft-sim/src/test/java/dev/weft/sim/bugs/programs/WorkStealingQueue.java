package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * The owner of a work-stealing queue takes the last task without asking whether a thief takes it
 * too.
 *
 * <p>After SCTBench chess/WorkStealQueue.
 */
final class WorkStealingQueue {
  static final KnownBug BUG =
      KnownBug.of(
          WorkStealingQueue.class,
          "SCTBench chess/WorkStealQueue",
          Kind.ATOMICITY,
          () -> run(new Tasks()),
          () -> run(new FixedTasks()));

  private WorkStealingQueue() {}

  private static void run(Tasks tasks) throws Exception {
    tasks.push(0);
    tasks.push(1);
    Together.run(
        tasks,
        t -> {
          t.run(t.pop());
          t.run(t.pop());
        },
        t -> {
          t.run(t.steal());
          t.run(t.steal());
        });
    tasks.run(tasks.pop()); // a thief may leave a task that it did not get
    Check.equal("[1, 1]", tasks.runs.toString(), "how often each task ran");
  }

  private static class Tasks {
    static final int NONE = -1;
    final AtomicIntegerArray runs = new AtomicIntegerArray(2);
    final AtomicInteger head = new AtomicInteger();
    final int[] tasks = new int[4];
    volatile int tail;

    void push(int task) {
      int end = tail;
      tasks[end] = task;
      tail = end + 1;
    }

    int pop() {
      int last = tail - 1;
      tail = last;
      int first = head.get();
      if (first > last) {
        tail = first;
        return NONE;
      }
      return first < last ? tasks[last] : popLast(first);
    }

    int popLast(int index) {
      return tasks[index];
    }

    int steal() {
      int first = head.get();
      if (first >= tail) {
        return NONE;
      }
      int task = tasks[first];
      return head.compareAndSet(first, first + 1) ? task : NONE;
    }

    void run(int task) {
      if (task != NONE) {
        runs.incrementAndGet(task);
      }
    }
  }

  private static final class FixedTasks extends Tasks {
    @Override
    int popLast(int index) {
      boolean won = head.compareAndSet(index, index + 1);
      tail = index + 1;
      return won ? tasks[index] : NONE;
    }
  }
}
