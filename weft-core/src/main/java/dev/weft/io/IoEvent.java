package dev.weft.io;

/** A direction in which a channel or a descriptor can become ready. */
public enum IoEvent {
  /** A read or accept would not block, or the peer has ended. */
  READ,
  /** A write would not block, or a connect has succeeded or failed. */
  WRITE
}
