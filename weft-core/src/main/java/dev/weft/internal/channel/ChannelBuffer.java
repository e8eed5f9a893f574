package dev.weft.internal.channel;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.weft.channel.Channel;
import dev.weft.internal.lock.SpinLock;
import dev.weft.internal.wait.WaitNode;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The values that a channel holds: a ring, which grows as far as the capacity asks for, and the
 * lock of the channel. It is the superclass of the rest and no object of its own, so that an
 * operation finds all it needs in one object.
 *
 * @param <T> the type of the values
 */
public abstract sealed class ChannelBuffer<T> extends Channel<T> permits ChannelCore {
  /*
   * Invariants, whenever the lock is free:
   *
   *   0 <= count <= capacity, count <= buffer.length
   *   buffer.length is 0 or a power of two
   *   the values are at head, head + 1, … head + count - 1, modulo buffer.length; the rest is null
   */

  /** The capacity of a channel that is never full. */
  public static final int UNLIMITED = Integer.MAX_VALUE;

  private static final int FIRST_BUFFER = 16;

  /** Up to this capacity the buffer gets all its room in the second step. */
  private static final int MOST_AT_ONCE = 256;

  /** A buffer that had to grow beyond this is let go when it is empty. */
  private static final int KEPT_BUFFER = 4096;

  private static final @Nullable Object[] NO_BUFFER = {};
  final SpinLock lock = new SpinLock();
  final int capacity;

  @GuardedBy("lock")
  private @Nullable Object[] buffer = NO_BUFFER;

  @GuardedBy("lock")
  private int head;

  // written under lock; read without it for a guess
  int count;

  ChannelBuffer(int capacity) {
    this.capacity = capacity;
  }

  @Override
  public final int size() {
    lock.lock();
    try {
      return count;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public final int capacity() {
    return capacity;
  }

  // ---- under lock ----

  /** Puts a value into the buffer; returns false if there is no room. */
  @GuardedBy("lock")
  final boolean store(Object value) {
    if (count == capacity) {
      return false;
    }
    if (count == buffer.length) {
      grow();
    }
    buffer[(head + count) & (buffer.length - 1)] = value;
    count++;
    return true;
  }

  /**
   * Takes the next value, or NOT_NOW; the value of the sender, which has waited for room, goes to
   * the end.
   */
  @GuardedBy("lock")
  final Object take(@Nullable WaitNode sender) {
    if (count == 0) {
      return sender == null ? NoValue.NOT_NOW : Objects.requireNonNull(sender.item);
    }
    Object value = Objects.requireNonNull(buffer[head]);
    if (sender != null) { // it was full
      buffer[head] = null;
      head = (head + 1) & (buffer.length - 1);
      buffer[(head + count - 1) & (buffer.length - 1)] = sender.item;
    } else {
      buffer[head] = null;
      head = (head + 1) & (buffer.length - 1);
      if (--count == 0 && buffer.length > KEPT_BUFFER) {
        buffer = NO_BUFFER;
        head = 0;
      }
    }
    return value;
  }

  @GuardedBy("lock")
  private void grow() {
    int length = buffer.length;
    @Nullable Object[] larger = new Object[nextLength(length)];
    System.arraycopy(buffer, head, larger, 0, length - head);
    System.arraycopy(buffer, 0, larger, length - head, head);
    buffer = larger;
    head = 0;
  }

  /**
   * Returns room for a few first; then for all that a small channel may hold, else twice as much.
   */
  private int nextLength(int length) {
    int most = capacity > MOST_AT_ONCE ? UNLIMITED : Integer.highestOneBit(2 * capacity - 1);
    if (length == 0) {
      return Math.min(most, FIRST_BUFFER);
    }
    return most <= MOST_AT_ONCE ? most : Math.multiplyExact(length, 2);
  }
}
