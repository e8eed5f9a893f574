package dev.weft.stress;

/**
 * A stress program, and the amount of a long run.
 *
 * @param name its name on the command line
 * @param shows what the program does, in a line
 * @param amount the default amount
 * @param unit the unit of the amount
 * @param counted what the result counts
 */
record LongRun(
    String name, String shows, long amount, String unit, String counted, Program program) {

  /** The program. */
  @FunctionalInterface
  interface Program {
    /**
     * Runs this amount, at random but repeatable by the seed.
     *
     * @return the number of checks: see {@link LongRun#counted}
     * @throws AssertionError if it has found a fault
     */
    long run(long amount, long seed, Progress progress) throws Exception;
  }
}
