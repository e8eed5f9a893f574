package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import org.junit.jupiter.api.Test;

/**
 * A million coroutines: in a separate JVM with a heap of 1 GB and without assertions, because the
 * check for held monitors walks the stack at every switch.
 */
class CoroutineScaleTest {
  /** Parks a million coroutines, then resumes each to its end. */
  static final class Parked {
    public static void main(String[] args) {
      int many = 1_000_000;
      long[] ended = new long[1];
      Coroutine[] parked = new Coroutine[many];
      for (int i = 0; i < many; i++) {
        parked[i] =
            Coroutine.of(
                () -> {
                  Coroutine.yield();
                  ended[0]++;
                });
        parked[i].resume();
      }
      System.out.println(Coroutine.live() + " parked");
      for (Coroutine coroutine : parked) {
        coroutine.resume();
      }
      System.out.println(ended[0] + " ended");
    }
  }

  /** Passes control round a ring of a thousand coroutines a million times. */
  static final class Ring {
    public static void main(String[] args) {
      int size = 1_000;
      int rounds = 1_000;
      Coroutine[] ring = new Coroutine[size];
      long[] passes = new long[1];
      int[] deepest = new int[1];
      for (int i = 0; i < size; i++) {
        Body station =
            i < size - 1
                ? pass(ring, i + 1, rounds, passes)
                : () -> {
                  for (int round = 1; round < rounds; round++) {
                    deepest[0] = Math.max(deepest[0], stackDepth());
                    passes[0]++;
                    Coroutine.transferTo(ring[0]);
                  }
                  passes[0]++;
                };
        ring[i] = Coroutine.of(station);
      }
      ring[0].resume();
      System.out.println(passes[0] + " passes, stack at most 20 deep: " + (deepest[0] <= 20));
    }

    private static Body pass(Coroutine[] ring, int next, int rounds, long[] passes) {
      return () -> {
        for (int round = 0; round < rounds; round++) {
          passes[0]++;
          Coroutine.transferTo(ring[next]);
        }
      };
    }

    private static int stackDepth() {
      return StackWalker.getInstance().walk(frames -> (int) frames.count());
    }
  }

  @Test
  @Feature("C9")
  void aMillionParkedFitInOneGigabyte() throws Exception {
    assertThat(outputOf(Parked.class)).isEqualTo("1000000 parked\n1000000 ended\n");
  }

  @Test
  @Feature("C8")
  void aRingOfAThousandPassesControlAMillionTimesWithoutStackGrowth() throws Exception {
    assertThat(outputOf(Ring.class)).isEqualTo("1000000 passes, stack at most 20 deep: true\n");
  }

  private static String outputOf(Class<?> program) throws Exception {
    ForkedJvm.Result result =
        ForkedJvm.java(
            ForkedJvm.weftArgs(),
            "-Xmx1g",
            "-XX:+UseSerialGC",
            "-cp",
            ForkedJvm.classPathOf(Coroutine.class, program),
            program.getName());
    return result.output() + (result.exitStatus() == 0 ? "" : "exit " + result.exitStatus());
  }
}
