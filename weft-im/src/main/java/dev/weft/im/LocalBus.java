package dev.weft.im;

/** The bus of a node that is alone. */
final class LocalBus implements Bus {
  @Override
  public void stored(long id) {}

  @Override
  public void changedHere(String user) {}

  @Override
  public void close() {}
}
