package dev.weft.stress;

/**
 * How many threads the schedulers of a run have: as the run chooses, unless {@code
 * -Dweft.stress.threads=N} says it for all of them. The matrix of CI sets it.
 */
final class Threads {
  private static final int GIVEN = Integer.getInteger("weft.stress.threads", 0);

  private Threads() {}

  /** Returns the given number, else the one that the run would choose. */
  static int orElse(int chosen) {
    return GIVEN > 0 ? GIVEN : chosen;
  }
}
