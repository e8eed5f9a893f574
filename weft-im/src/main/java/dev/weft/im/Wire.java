package dev.weft.im;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A connection that carries lines. One fiber reads while another writes; any may close. */
interface Wire {
  /**
   * Waits for the next line, and returns it without its end; null if there will be none.
   *
   * @throws Refusal if the line is too long, or no text; the next one can be read
   */
  @Nullable String read() throws IOException, Refusal;

  /**
   * Writes lines, all of them.
   *
   * @throws Unfinished if it ends before that
   */
  void write(List<String> lines) throws Unfinished;

  /**
   * Keeps the way to the client busy: a client that is gone is noticed sooner or later. TCP itself
   * does so for lines.
   *
   * @throws Unfinished if the connection has ended
   */
  default void ping() throws Unfinished {}

  /** Returns whether {@link #ping} does something. */
  default boolean wantsPings() {
    return false;
  }

  /** Returns the address of the client, for limits: that of a network if clients have many. */
  String place();

  /** Says that a connection ended while lines were written, and how many were until then. */
  final class Unfinished extends IOException {
    private static final long serialVersionUID = 1;

    private final int lines;

    Unfinished(int lines, IOException cause) {
      super(cause.getMessage(), cause);
      this.lines = lines;
    }

    int lines() {
      return lines;
    }
  }

  /** Closes it, and wakes the fibers that read and write; never waits for long. */
  void close();
}
