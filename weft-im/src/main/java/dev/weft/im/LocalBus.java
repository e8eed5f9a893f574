package dev.weft.im;

import org.jspecify.annotations.Nullable;

/** The bus of a node that is alone. */
final class LocalBus implements Bus {
  @Override
  public void stored(long id) {}

  @Override
  public void changedHere(String user) {}

  @Override
  public void tell(String audience, @Nullable String alsoTo, String line) {}

  @Override
  public void close() {}
}
