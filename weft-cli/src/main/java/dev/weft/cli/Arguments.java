package dev.weft.cli;

import java.util.List;
import java.util.Set;

/** Goes through the command line of a server: options with a value, options without, the rest. */
final class Arguments {
  private final String[] all;
  private final String usage;
  private final Set<String> withValue;
  private int next;
  private String option = "";
  private String value = "";

  /**
   * Creates one.
   *
   * @param usage what is said of mistakes
   * @param withValue the options that have a value, behind them or after an equals sign
   */
  Arguments(String[] all, String usage, String... withValue) {
    this.all = all;
    this.usage = usage;
    this.withValue = Set.of(withValue);
  }

  /** Goes on to the next one; returns false at the end. */
  boolean next() {
    if (next == all.length) {
      return false;
    }
    String word = all[next++];
    String[] parts = word.split("=", 2);
    if (!withValue.contains(parts[0])) {
      option = word;
      value = "";
      return true;
    }
    if (parts.length < 2 && next == all.length) {
      throw UserMistake.usage("option " + parts[0] + " needs a value; " + usage);
    }
    option = parts[0];
    value = parts.length == 2 ? parts[1] : all[next++];
    return true;
  }

  /** Takes all words that are left. */
  List<String> rest() {
    List<String> left = List.of(all).subList(next, all.length);
    next = all.length;
    return left;
  }

  /** The option, or the word that is none. */
  String option() {
    return option;
  }

  String value() {
    return value;
  }

  /** The value as a number; the option is named by it without its dashes. */
  int number(int least, int most) {
    try {
      int number = Integer.parseInt(value);
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // said below
    }
    throw UserMistake.usage(
        "%s must be a number from %d to %d, not %s"
            .formatted(option.substring(2), least, most, value));
  }

  UserMistake unknown() {
    return UserMistake.usage("unknown option " + option + "; " + usage);
  }
}
