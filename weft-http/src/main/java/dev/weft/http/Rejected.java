package dev.weft.http;

import java.nio.charset.StandardCharsets;

/** Why a request is not served: what the client is told. */
final class Rejected extends Exception {
  private static final long serialVersionUID = 1;

  /** The type of {@link #text}. */
  static final String TEXT_TYPE = "text/plain; charset=utf-8";

  private final int status;

  // whether the request was HEAD, which no content may answer
  private boolean toHead;

  Rejected(int status, String message) {
    super(message, null, false, false); // without a stack: the mistake is the client's
    this.status = status;
  }

  /** Notes that it answers HEAD; returns this. */
  Rejected toHead(boolean isHead) {
    toHead = isHead;
    return this;
  }

  boolean isToHead() {
    return toHead;
  }

  /** Returns the content of the response. */
  byte[] text() {
    return (getMessage() + "\n").getBytes(StandardCharsets.UTF_8);
  }

  int status() {
    return status;
  }
}
