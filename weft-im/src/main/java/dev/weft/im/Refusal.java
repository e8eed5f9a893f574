package dev.weft.im;

/** Says why a command is not carried out; the client gets it as {@code ERR code text}. */
final class Refusal extends Exception {
  private static final long serialVersionUID = 1;

  /** What kind of refusal it is: the second word of the line. */
  enum Code {
    SYNTAX,
    LOGIN,
    EXISTS,
    DENIED,
    UNKNOWN,
    LIMIT,
    INTERNAL
  }

  private final Code code;

  Refusal(Code code, String text) {
    super(text, null, false, false);
    this.code = code;
  }

  Code code() {
    return code;
  }

  String line() {
    return "ERR " + code.name().toLowerCase(java.util.Locale.ROOT) + " " + getMessage();
  }
}
