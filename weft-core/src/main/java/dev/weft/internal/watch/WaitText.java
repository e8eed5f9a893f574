package dev.weft.internal.watch;

import dev.weft.Fiber;
import dev.weft.internal.WaitWords;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a fiber waits for, in words, for dumps, screens and the console. A blocker of Weft's or of
 * the program describes itself; for waits in methods of the JDK see {@link WaitWords}.
 */
final class WaitText {
  /** The words for a wait at a monitor of which no snapshot tells the object. */
  static final String A_MONITOR = "a monitor";

  private WaitText() {}

  /**
   * Returns what a fiber waits for.
   *
   * @param blockedOn what it is blocked on; null if that is not known
   * @param stack its stack, innermost frame first
   */
  static String of(LockOwners.@Nullable BlockedOn blockedOn, List<StackTraceElement> stack) {
    if (blockedOn == null) {
      return stack.isEmpty() ? "its start" : WaitWords.of(stack, null);
    }
    Object object = blockedOn.object();
    if (object instanceof Fiber<?> fiber) {
      return "the end of " + fiber;
    }
    if (object == LockOwners.NotAsked.MONITOR) {
      return A_MONITOR;
    }
    if (blockedOn.isMonitor()) {
      return "the monitor of " + Objects.toIdentityString(object);
    }
    String words = WaitWords.isJdkObject(object) ? WaitWords.knownOrEmpty(stack, object) : "";
    return words.isEmpty() ? textOf(object) : words;
  }

  private static String textOf(Object blocker) {
    try {
      return "" + blocker; // toString() may return null
    } catch (Throwable e) { // a blocker may be any object, with any toString()
      return "a " + blocker.getClass().getName() + " (its toString() threw " + e + ")";
    }
  }
}
