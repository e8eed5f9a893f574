package dev.weft.bench.report;

import java.util.List;

/** The middle and the ends of some numbers. Of five numbers nothing finer can be told honestly. */
public record Spread(double min, double median, double max) {
  /** Returns the spread of at least one number. */
  public static Spread of(List<Double> numbers) {
    if (numbers.isEmpty()) {
      throw new IllegalArgumentException("a spread needs at least one number");
    }
    List<Double> sorted = numbers.stream().sorted().toList();
    int middle = sorted.size() / 2;
    double median =
        sorted.size() % 2 == 1
            ? sorted.get(middle)
            : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    return new Spread(sorted.getFirst(), median, sorted.getLast());
  }
}
