package dev.weft.internal;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Messages of a thread that must not wait, such as the watchdog. A daemon thread writes them, in
 * order, and ends when none is left: an appender may block for as long as a pipe is not read, or as
 * a fiber that holds its worker holds the appender's lock. What is left when the process ends is
 * lost.
 */
final class LogQueue {
  /** How many messages the queue holds at most; it counts further ones, and logs their number. */
  private static final int MOST = 1_000;

  @GuardedBy("this")
  private final Queue<Runnable> messages = new ArrayDeque<>();

  @GuardedBy("this")
  private @Nullable Thread writer;

  @GuardedBy("this")
  private int lost;

  /** Adds what writes a message; returns at once. */
  synchronized void add(Runnable message) {
    if (messages.size() < MOST) {
      messages.add(message);
    } else {
      lost++;
    }
    if (writer == null) {
      try {
        writer =
            Thread.ofPlatform()
                .daemon()
                .name("weft-log")
                .inheritInheritableThreadLocals(false)
                .start(this::writeAll);
      } catch (OutOfMemoryError e) {
        // no thread can be started now: the next message tries again
      }
    }
  }

  private void writeAll() {
    try {
      for (Runnable message = next(); message != null; message = next()) {
        try {
          message.run();
        } catch (Throwable e) {
          // an appender that fails: the next message may be written
        }
      }
    } finally {
      writerEnds(); // next() may have found no memory: the next message starts another writer
    }
  }

  private synchronized void writerEnds() {
    if (writer == Thread.currentThread()) {
      writer = null;
    }
  }

  /** Returns the next message; null if there is none, and the writer ends. */
  private synchronized @Nullable Runnable next() {
    Runnable message = messages.poll();
    if (message == null && lost > 0) {
      String text = lost + " messages of Weft's were lost while the log blocked"; // may fail
      lost = 0;
      return () -> Log.logger().log(Level.WARNING, text);
    }
    if (message == null) {
      writer = null;
    }
    return message;
  }
}
