package dev.weft.http;

/** Why a request is not served: what the client is told before the connection is closed. */
final class Rejected extends Exception {
  private static final long serialVersionUID = 1;

  private final int status;

  Rejected(int status, String message) {
    super(message, null, false, false); // it tells of the client's mistake: no place in this code
    this.status = status;
  }

  int status() {
    return status;
  }
}
