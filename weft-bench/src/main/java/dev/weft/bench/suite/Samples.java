package dev.weft.bench.suite;

import java.util.Arrays;

/** The numbers of one JVM, in an array of fixed size: adding one allocates nothing. */
final class Samples {
  private final double[] numbers;
  private int count;

  Samples(int most) {
    numbers = new double[most];
  }

  /** Adds a number; from one thread at a time. */
  void add(double number) {
    numbers[count++] = number;
  }

  double median() {
    return percentile(50);
  }

  /** Returns the smallest number that so many percent of the numbers do not exceed. */
  double percentile(double percent) {
    double[] sorted = Arrays.copyOf(numbers, count);
    Arrays.sort(sorted);
    return sorted[(int) Math.ceil(percent / 100 * count) - 1];
  }

  double max() {
    return percentile(100);
  }

  /** Returns how many are less than the limit. */
  long below(double limit) {
    return Arrays.stream(numbers, 0, count).filter(number -> number < limit).count();
  }
}
