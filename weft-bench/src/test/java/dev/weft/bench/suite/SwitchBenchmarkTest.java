package dev.weft.bench.suite;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SwitchBenchmarkTest {
  /** Counts the frames where a contestant would yield. */
  private static final class Counting extends SwitchBenchmark.Stack {
    private long frames;

    @Override
    void suspend() {
      frames =
          StackWalker.getInstance()
              .walk(all -> all.filter(frame -> frame.getMethodName().equals("descend")).count());
    }
  }

  @Test
  void theFramesAreThere() {
    Counting stack = new Counting();
    for (int depth : new int[] {1, 5, 20, 100}) {
      stack.descend(depth);
      assertThat(stack.frames).isEqualTo(depth);
    }
  }
}
