package dev.weft.internal.jdk;

import java.util.ArrayList;
import java.util.List;
import jdk.internal.vm.ContinuationSupport;

/** The JVM flags that Weft needs, and the message if they are missing. */
public final class RequiredFlags {
  /** The packages of {@code java.base} that have to be exported to Weft. */
  static final List<String> EXPORTED = List.of("jdk.internal.vm");

  /** The packages of {@code java.base} that have to be open to Weft. */
  static final List<String> OPENED = List.of("java.lang", "java.util.concurrent", "sun.nio.ch");

  private static final Module BASE = Object.class.getModule();
  private static final Module WEFT = RequiredFlags.class.getModule();

  private RequiredFlags() {}

  /**
   * Ensures that Weft has the access it needs: by the JVM's flags, or without them by {@link
   * NativeOpening}. To be called by static initializers.
   *
   * @throws ExceptionInInitializerError if the JVM has no continuations, or if flags are missing,
   *     with the exact flags to add. An error leaves a static initializer as it is. The JVM would
   *     wrap an exception in an error without a message, and programs that print only the message
   *     would print null.
   */
  public static void check() {
    if (!areEnough()) {
      String refusal = NativeOpening.open();
      if (refusal != null) {
        throw new ExceptionInInitializerError(message(refusal));
      }
    }
    if (!ContinuationSupport.isSupported()) {
      throw new ExceptionInInitializerError(
          "Weft cannot run on this JVM, which has no continuations: leave out -XX:-VMContinuations,"
              + " or use a JVM that has them");
    }
  }

  /** Returns whether Weft has the access it needs. */
  static boolean areEnough() {
    for (String name : EXPORTED) { // no stream: every program with the flags comes here too
      if (!BASE.isExported(name, WEFT)) {
        return false;
      }
    }
    for (String name : OPENED) {
      if (!BASE.isOpen(name, WEFT)) {
        return false;
      }
    }
    return true;
  }

  /** Returns the flags that give Weft, where it is now, all it needs. */
  static List<String> list() {
    String target = "=" + (WEFT.isNamed() ? WEFT.getName() : "ALL-UNNAMED");
    List<String> flags = new ArrayList<>();
    EXPORTED.forEach(name -> flags.add("--add-exports=java.base/" + name + target));
    OPENED.forEach(name -> flags.add("--add-opens=java.base/" + name + target));
    flags.add("--enable-native-access" + target);
    return flags;
  }

  private static String message(String refusal) {
    return (WEFT.isNamed()
            ? "Weft, on the module path, needs flags that this JVM was started without. Add them:"
            : "Weft, on the class path, needs flags that this JVM was started without. Add them, or"
                + " start with java @weft.args or ./weft run:")
        + "\n  "
        + String.join("\n  ", list())
        + "\nWeft could not open these packages without flags: "
        + refusal;
  }
}
