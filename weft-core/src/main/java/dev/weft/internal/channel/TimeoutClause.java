package dev.weft.internal.channel;

import dev.weft.channel.Select;
import java.time.Duration;
import java.util.function.Supplier;

/** Ends the wait of a select after a while. */
public final class TimeoutClause<R> extends Select.Clause<R> {
  final Duration limit;
  final Supplier<R> then;

  /** Creates a clause that is chosen after the limit. */
  public TimeoutClause(Duration limit, Supplier<R> then) {
    this.limit = limit;
    this.then = then;
  }

  @Override
  public String toString() {
    return "a timeout of " + limit;
  }
}
