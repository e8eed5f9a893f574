package dev.weft.cli;

/**
 * Turns the characters that a terminal sends into keys. A key such as an arrow is a sequence:
 * Escape, {@code [}, parameters, and a final character (ECMA-48, 5.4), or Escape, {@code O} and one
 * character. A terminal answers questions about itself in such sequences too, and an answer may
 * come late, in the midst of the keys.
 *
 * <p>Nothing here depends on time. A limit for the character after an Escape would tell a lone
 * Escape from an arrow on a machine that is idle; on one that is busy, the two characters of an
 * arrow or of a late answer arrive further apart than any limit that a user would not notice.
 */
final class KeyDecoder {
  /** No key yet: the character is part of a sequence. */
  static final int NONE = 0;

  static final int UP = -'A';
  static final int DOWN = -'B';
  static final int HOME = -'H';
  static final int END = -'F';

  /** A sequence with the final character {@code ~} and a number, such as 5. */
  static final int PAGE_UP = -('~' + 256 * 5);

  static final int PAGE_DOWN = -('~' + 256 * 6);

  private static final int ESCAPE = 27;
  private static final int MOST_PARAMETER = 1_000;

  /**
   * How far the sequence has come.
   *
   * <pre>
   *   PLAIN   → ESCAPED  Escape
   *   ESCAPED → CONTROL  [
   *   ESCAPED → SINGLE   O
   *   CONTROL → PLAIN    the final character: a key
   *   SINGLE  → PLAIN    any character: a key
   *   ESCAPED → PLAIN    any other character: a key; the Escape was a key of its own, of no use
   *   any     → PLAIN    a control character: a key; the sequence is given up
   *   any     → ESCAPED  Escape
   * </pre>
   */
  private enum State {
    PLAIN,
    ESCAPED,
    CONTROL,
    SINGLE
  }

  private State state = State.PLAIN;

  // the first parameter of the sequence, if it is a number, and whether others follow
  private int parameter;
  private boolean hasMore;

  /**
   * Takes the next character. Returns a character that is a key by itself; for a sequence that is
   * complete, its last character times -1, or another negative number if it is {@code ~}; otherwise
   * {@link #NONE}.
   */
  int accept(int character) {
    State before = state;
    if (character == ESCAPE) {
      state = State.ESCAPED;
      return NONE;
    }
    if (before == State.ESCAPED && (character == '[' || character == 'O')) {
      state = character == '[' ? State.CONTROL : State.SINGLE;
      parameter = 0;
      hasMore = false;
      return NONE;
    }
    if (before == State.CONTROL && character >= ' ' && character < '@') {
      addToParameter(character);
      return NONE;
    }
    state = State.PLAIN;
    boolean ends = (before == State.CONTROL || before == State.SINGLE) && character >= ' ';
    return !ends ? character : character == '~' ? numbered(parameter) : -character;
  }

  private void addToParameter(int character) {
    hasMore |= character < '0' || character > '9';
    if (!hasMore && parameter < MOST_PARAMETER) {
      parameter = 10 * parameter + character - '0';
    }
  }

  private static int numbered(int parameter) {
    return switch (parameter) { // some terminals number these two
      case 1 -> HOME;
      case 4 -> END;
      default -> -('~' + 256 * parameter);
    };
  }

  /** Returns whether the last character has begun a sequence, or gone on with it. */
  boolean isInSequence() {
    return state != State.PLAIN;
  }
}
