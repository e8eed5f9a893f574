package dev.weft.internal.channel;

import org.jspecify.annotations.Nullable;

/**
 * Why an operation on a channel has no value to show. Operations return an {@code Object}: the
 * value itself, which is never one of these because the type is internal, or one of these.
 *
 * <p>So one reference says how an operation ended, and no operation allocates. A record of a status
 * and a value was refused: it would be an object per receive wherever the JIT does not inline the
 * whole path. A null with a second look at the channel was refused too: between the two the channel
 * can be filled, closed and drained. The same reference travels through {@link
 * dev.weft.internal.wait.WaitNode#item} to a waiter that is woken.
 */
enum NoValue {
  /** A send found the channel closed, a receive found it closed and empty. Final. */
  CLOSED,

  /** There is no room or receiver, or no value, at this moment. */
  NOT_NOW;

  /** Returns whether this is one of the constants; compares only, without a look at the value. */
  static boolean is(@Nullable Object result) {
    return result == CLOSED || result == NOT_NOW;
  }
}
