package dev.weft.im;

import org.jspecify.annotations.Nullable;

/** What a node tells the others. Nothing in here waits, but for {@link #close}. */
interface Bus extends AutoCloseable {
  /** Tells that there are messages up to an id. */
  void stored(long id);

  /** Tells that a user has come or gone on this node: {@link Presence#isHere} says which. */
  void changedHere(String user);

  /** Has the other nodes tell an event to their users; it is lost if they cannot be reached. */
  void tell(String audience, @Nullable String alsoTo, String line);

  @Override
  void close();
}
