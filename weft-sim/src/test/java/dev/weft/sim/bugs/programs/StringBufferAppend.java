package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;

/**
 * Text is appended to another text: its length is read and its letters are copied in two critical
 * sections, and the text is cut between them.
 *
 * <p>After SCTBench conc-bugs/stringbuffer-jdk1.4.
 */
final class StringBufferAppend {
  static final KnownBug BUG =
      KnownBug.of(
          StringBufferAppend.class,
          "SCTBench conc-bugs/stringbuffer-jdk1.4",
          Kind.ATOMICITY,
          () -> run(new Text()),
          () -> run(new FixedText()));

  private StringBufferAppend() {}

  private static void run(Text text) throws Exception {
    Together.run(text, t -> new Text().append(t), Text::cut);
  }

  private static class Text {
    private char[] letters = {'w', 'e', 'f', 't'};

    synchronized int length() {
      return letters.length;
    }

    synchronized void copyTo(char[] target, int count) {
      for (int i = 0; i < count; i++) {
        target[i] = letters[i];
      }
    }

    synchronized void cut() {
      letters = new char[0];
    }

    synchronized void append(Text other) {
      letters = other.copy();
    }

    char[] copy() {
      char[] copied = new char[length()];
      copyTo(copied, copied.length);
      return copied;
    }
  }

  private static final class FixedText extends Text {
    @Override
    synchronized char[] copy() {
      return super.copy();
    }
  }
}
