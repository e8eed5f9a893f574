package dev.weft.internal.channel;

import dev.weft.channel.Select;

/** Is never chosen. */
public final class SwitchedOffClause<R> extends Select.Clause<R> {
  /** The one there is; it returns nothing, so it stands for a clause of any type. */
  public static final SwitchedOffClause<?> INSTANCE = new SwitchedOffClause<>();

  private SwitchedOffClause() {}
}
