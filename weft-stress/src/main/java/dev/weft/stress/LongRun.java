package dev.weft.stress;

/**
 * One of the programs, and how much of it is a long run.
 *
 * @param name what it is called on the command line
 * @param shows what it does, in a line
 * @param amount how much to do unless told otherwise
 * @param unit of what
 * @param counted what its result counts
 */
record LongRun(
    String name, String shows, long amount, String unit, String counted, Program program) {

  /** What it does. */
  @FunctionalInterface
  interface Program {
    /**
     * Does so much, at random but for the seed.
     *
     * @return how often it has looked, so to speak: see {@link LongRun#counted}
     * @throws AssertionError if it has found something
     */
    long run(long amount, long seed, Progress progress) throws Exception;
  }
}
