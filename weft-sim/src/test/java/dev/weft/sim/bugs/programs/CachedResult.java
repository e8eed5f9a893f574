package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The last question and its answer are kept in two atomic fields, which are not one.
 *
 * <p>After Java Concurrency in Practice, listing 2.5 (UnsafeCachingFactorizer).
 */
final class CachedResult {
  static final KnownBug BUG =
      KnownBug.of(
          CachedResult.class,
          "Java Concurrency in Practice, listing 2.5 (UnsafeCachingFactorizer)",
          Kind.ATOMICITY,
          () -> run(new Squares()),
          () -> run(new FixedSquares()));

  private CachedResult() {}

  private static void run(Squares squares) throws Exception {
    Together.run(
        squares,
        s -> Check.equal(4, s.square(2), "square of 2"),
        s -> Check.equal(9, s.square(3), "square of 3"),
        s -> Check.equal(9, s.square(3), "square of 3"));
  }

  private static class Squares {
    private final AtomicInteger lastNumber = new AtomicInteger(1);
    private final AtomicInteger lastSquare = new AtomicInteger(1);

    int square(int number) {
      if (lastNumber.get() == number) {
        return lastSquare.get();
      }
      int square = number * number;
      lastNumber.set(number);
      lastSquare.set(square);
      return square;
    }
  }

  private static final class FixedSquares extends Squares {
    private final AtomicReference<int[]> last = new AtomicReference<>(new int[] {1, 1});

    @Override
    int square(int number) {
      int[] known = last.get();
      if (known[0] == number) {
        return known[1];
      }
      int square = number * number;
      last.set(new int[] {number, square});
      return square;
    }
  }
}
