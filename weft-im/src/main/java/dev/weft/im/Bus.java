package dev.weft.im;

/** What a node tells the others. Nothing in here waits, but for {@link #close}. */
interface Bus extends AutoCloseable {
  /** Tells that there are messages up to an id. */
  void stored(long id);

  /** Tells that a user has come or gone on this node: {@link Presence#isHere} says which. */
  void changedHere(String user);

  @Override
  void close();
}
