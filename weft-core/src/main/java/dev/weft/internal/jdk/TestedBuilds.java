package dev.weft.internal.jdk;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;

/**
 * The JDK builds on which the tests of Weft have run with fast switching. Fast switching copies
 * code of {@code VirtualThread} and {@code Continuation} and goes on where their methods leave off,
 * so it is right only for the code that it was written against: a class of the JDK counts as known
 * if its class file has the digest of a tested build. A build whose classes differ in anything, be
 * it a method that Weft does not use, is switched by the JDK itself until a test run has seen it.
 *
 * <p>To add a build: run {@code ./weft test} on it with {@code -Dweft.switch=weft}, which skips
 * this check, and add the line that the log names to {@code tested-builds.txt}.
 */
public final class TestedBuilds {
  private static final String LIST = "tested-builds.txt";

  private TestedBuilds() {}

  /**
   * Checks that a class of the JDK is one that Weft's tests have run on.
   *
   * @throws UnsupportedJdk if it is not
   */
  public static void check(Class<?> type) throws UnsupportedJdk {
    String line = lineOf(type);
    try (InputStream list = TestedBuilds.class.getResourceAsStream(LIST)) {
      if (list == null
          || !new String(list.readAllBytes(), StandardCharsets.UTF_8).contains(line + "\n")) {
        throw new UnsupportedJdk(
            "no test run of Weft has seen its " + type.getName() + " (" + line + ")");
      }
    } catch (IOException e) {
      throw new UnsupportedJdk(e);
    }
  }

  /** Returns the line of the list that stands for this class as this JDK has it. */
  static String lineOf(Class<?> type) throws UnsupportedJdk {
    try (InputStream in = type.getResourceAsStream(type.getSimpleName() + ".class")) {
      if (in == null) {
        throw new UnsupportedJdk("the class file of " + type.getName() + " cannot be read");
      }
      byte[] bytes = in.readAllBytes();
      CRC32 digest = new CRC32(); // against accidents, not against attacks: loads nothing more
      digest.update(bytes);
      return "%s %d %08x".formatted(type.getName(), bytes.length, digest.getValue());
    } catch (IOException e) {
      throw new UnsupportedJdk(e);
    }
  }
}
