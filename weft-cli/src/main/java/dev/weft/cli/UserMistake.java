package dev.weft.cli;

/** Something the user can put right: ends the command with one line, and no stack trace. */
final class UserMistake extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int exitStatus;

  private UserMistake(int exitStatus, String message) {
    super(message, null, false, false);
    this.exitStatus = exitStatus;
  }

  /** Wrong usage of the command line: exit status 2. */
  static UserMistake usage(String message) {
    return new UserMistake(2, message);
  }

  /** A program that cannot be started, though it was named rightly: exit status 1. */
  static UserMistake program(String message) {
    return new UserMistake(1, message);
  }

  int exitStatus() {
    return exitStatus;
  }
}
