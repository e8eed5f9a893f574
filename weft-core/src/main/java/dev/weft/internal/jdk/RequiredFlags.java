package dev.weft.internal.jdk;

/** The one place that knows which JVM flags Weft needs, and says so when they are missing. */
public final class RequiredFlags {
  private RequiredFlags() {}

  /**
   * Fails with the exact flags to add if the JVM was started without what Weft needs.
   *
   * @throws IllegalStateException if a flag is missing
   */
  public static void check() {
    Module base = Object.class.getModule();
    Module weft = RequiredFlags.class.getModule();
    if (!base.isExported("jdk.internal.vm", weft)
        || !base.isOpen("java.lang", weft)
        || !base.isOpen("java.util.concurrent", weft)
        || !base.isOpen("sun.nio.ch", weft)) {
      throw new IllegalStateException(message(weft));
    }
  }

  private static String message(Module weft) {
    String flags =
        """
          --add-exports=java.base/jdk.internal.vm=%1$s
          --add-opens=java.base/java.lang=%1$s
          --add-opens=java.base/java.util.concurrent=%1$s
          --add-opens=java.base/sun.nio.ch=%1$s
          --enable-native-access=%1$s
        """;
    return weft.isNamed()
        ? "Weft, on the module path, needs flags that this JVM was started without. Add them:\n"
            + flags.formatted(weft.getName())
        : "Weft, on the class path, needs flags that this JVM was started without. Add them, or start"
            + " with java @weft.args or ./weft run:\n"
            + flags.formatted("ALL-UNNAMED");
  }
}
