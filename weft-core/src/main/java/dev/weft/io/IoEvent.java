package dev.weft.io;

/** What a channel or a descriptor can become ready for. */
public enum IoEvent {
  /** Something can be read or accepted, or the other side has ended. */
  READ,
  /** Something can be written, or a connection has been made or refused. */
  WRITE
}
