package dev.weft.stress;

/**
 * The number of threads of a run's schedulers: the run chooses it, unless {@code
 * -Dweft.stress.threads=N} sets it for all. The matrix of CI sets the property.
 */
final class Threads {
  private static final int GIVEN = Integer.getInteger("weft.stress.threads", 0);

  private Threads() {}

  /** Returns the number from the property, else the number that the run would choose. */
  static int orElse(int chosen) {
    return GIVEN > 0 ? GIVEN : chosen;
  }
}
