package dev.weft.sim;

import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The choices of one run: its seed, from which the randomness of the program comes, and the choices
 * that differ from the usual ones. Usually a fiber runs until it waits, and then the next one by
 * number. As text: {@code schedule:42/3>1,17>0} means seed 42, fiber 1 at choice 3, fiber 0 at
 * choice 17.
 *
 * @param seed the seed of the run
 * @param switches the numbers of the chosen fibers, by the index of the choice
 */
public record Schedule(long seed, SortedMap<Integer, Integer> switches) {
  private static final String PREFIX = "schedule:";

  /** Copies the map. */
  public Schedule {
    switches = Collections.unmodifiableSortedMap(new TreeMap<>(switches));
  }

  /**
   * Reads a schedule.
   *
   * @throws IllegalArgumentException if the text is none
   */
  public static Schedule parse(String text) {
    int slash = text.indexOf('/');
    try {
      if (!text.startsWith(PREFIX) || slash < 0) {
        throw new NumberFormatException();
      }
      SortedMap<Integer, Integer> switches = new TreeMap<>();
      String rest = text.substring(slash + 1);
      for (String part : rest.isEmpty() ? new String[0] : rest.split(",", -1)) {
        int arrow = part.indexOf('>');
        switches.put(
            Integer.parseInt(part.substring(0, Math.max(arrow, 0))),
            Integer.parseInt(part.substring(arrow + 1)));
      }
      return new Schedule(Long.parseLong(text.substring(PREFIX.length(), slash)), switches);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "'" + text + "' is no schedule: it must look like schedule:42/3>1,17>0", e);
    }
  }

  /** Returns the schedule as text, which {@link #parse} reads. */
  @Override
  public String toString() {
    return PREFIX
        + seed
        + "/"
        + switches.entrySet().stream()
            .map(entry -> entry.getKey() + ">" + entry.getValue())
            .collect(Collectors.joining(","));
  }

  Schedule without(Map<Integer, Integer> removed) {
    SortedMap<Integer, Integer> left = new TreeMap<>(switches);
    left.keySet().removeAll(removed.keySet());
    return new Schedule(seed, left);
  }
}
