package dev.weft.internal.channel;

import dev.weft.channel.Select;
import java.util.function.Supplier;

/** Is chosen instead of a wait. */
public final class OtherwiseClause<R> extends Select.Clause<R> {
  final Supplier<R> then;

  /** Creates a clause that is chosen if no other one is ready. */
  public OtherwiseClause(Supplier<R> then) {
    this.then = then;
  }
}
