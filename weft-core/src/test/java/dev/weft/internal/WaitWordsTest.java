package dev.weft.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Words for stacks that no other test makes. */
@Feature("O2")
class WaitWordsTest {
  /** Frames as {@code package.Class.method}, innermost first. */
  private static List<StackTraceElement> stack(String... frames) {
    return Stream.of(frames)
        .map(
            frame -> {
              int dot = frame.lastIndexOf('.');
              return new StackTraceElement(
                  frame.substring(0, dot), frame.substring(dot + 1), "File.java", 1);
            })
        .toList();
  }

  @Test
  void theOutermostMethodOfTheJdkThatHasWordsCounts() {
    assertThat(
            WaitWords.of(
                stack(
                    "java.lang.VirtualThread.park",
                    "java.util.concurrent.locks.LockSupport.park",
                    "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await",
                    "java.util.concurrent.ArrayBlockingQueue.take",
                    "shop.Orders.next",
                    "java.util.concurrent.FutureTask.get"),
                null))
        .isEqualTo("an element of an ArrayBlockingQueue");
  }

  @Test
  void aMethodWithoutWordsIsNamed() {
    assertThat(
            WaitWords.of(
                stack("java.lang.VirtualThread.park", "sun.nio.fs.Watcher.take", "shop.Orders.run"),
                null))
        .isEqualTo("Watcher.take() to return");
    assertThat(
            WaitWords.of(
                stack("java.lang.VirtualThread.park", "java.lang.VirtualThread.run"), null))
        .isEqualTo("VirtualThread.park() to return");
    assertThat(WaitWords.of(stack("dev.weft.internal.sched.Slice.run"), null))
        .isEqualTo("dev.weft.internal.sched.Slice.run(File.java:1)");
    assertThat(WaitWords.of(List.of(), null)).isEmpty();
  }
}
