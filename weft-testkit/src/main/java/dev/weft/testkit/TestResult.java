package dev.weft.testkit;

import java.util.List;

/**
 * How a test ended, or that it started: a line of a module's {@code features.tsv}.
 *
 * @param features the ids of the rows it proves, maybe none
 * @param test its class and method, and for one of several invocations its display name in brackets
 * @param message the error, or empty
 */
record TestResult(List<String> features, String test, Outcome outcome, String message) {
  enum Outcome {
    STARTED,
    PASSED,
    FAILED,
    SKIPPED
  }

  static TestResult parse(String line) {
    String[] columns = line.split("\t", -1);
    if (columns.length != 4) {
      throw new IllegalArgumentException("not a test result: " + line);
    }
    List<String> features = columns[0].isEmpty() ? List.of() : List.of(columns[0].split(",", -1));
    return new TestResult(features, columns[1], Outcome.valueOf(columns[2]), columns[3]);
  }

  String line() {
    return String.join(
        "\t", String.join(",", features), oneLine(test), outcome.name(), oneLine(message));
  }

  TestResult as(Outcome newOutcome, String newMessage) {
    return new TestResult(features, test, newOutcome, newMessage);
  }

  /** Returns the test without the display name of an invocation. */
  String method() {
    int bracket = test.indexOf('[');
    return bracket < 0 ? test : test.substring(0, bracket);
  }

  private static String oneLine(String text) {
    return text.strip().replaceAll("\\s+", " ");
  }
}
