package dev.weft.internal.jdk;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.zip.CRC32;

/**
 * The JDK builds on which the tests of Weft have run with fast switching. Fast switching copies
 * code of {@code VirtualThread} and {@code Continuation} and goes on where their methods leave off,
 * so it is right only for the code that it was written against: a class of the JDK counts as known
 * if its class file has the digest of a tested build. A build whose classes differ in anything, be
 * it a method that Weft does not use, is switched by the JDK itself until a test run has seen it.
 *
 * <p>A build is one line of {@code tested-builds.txt}:
 *
 * <pre>
 *   name of the build: class bytes crc32, class bytes crc32
 * </pre>
 *
 * <p>To add a build: run {@code ./weft test} on it with {@code -Dweft.switch=weft}, which skips
 * this check, and add the line that the log and {@code TestedBuildsTest} name.
 */
public final class TestedBuilds {
  private static final String LIST = "tested-builds.txt";

  /** The classes whose code fast switching copies or continues. */
  private static final List<String> CLASSES =
      List.of("java.lang.VirtualThread", "jdk.internal.vm.Continuation");

  private TestedBuilds() {}

  /**
   * Checks that a class of the JDK is one that Weft's tests have run on.
   *
   * @throws UnsupportedJdk if it is not
   */
  public static void check(Class<?> type) throws UnsupportedJdk {
    try (InputStream list = TestedBuilds.class.getResourceAsStream(LIST)) {
      if (list == null
          || !has(new String(list.readAllBytes(), StandardCharsets.UTF_8), digest(type))) {
        throw new UnsupportedJdk(
            "no test run of Weft has seen its %s; after one, add the line '%s' to %s"
                .formatted(type.getName(), line(), LIST));
      }
    } catch (IOException e) {
      throw new UnsupportedJdk(e);
    }
  }

  /** Returns whether a line of the list has the digest. */
  static boolean has(String list, String digest) {
    for (String line : list.lines().toList()) {
      if (!line.startsWith("#") && (line + ",").contains(" " + digest + ",")) {
        return true;
      }
    }
    return false;
  }

  /** Returns the line of the list that stands for this JDK. */
  static String line() throws UnsupportedJdk {
    StringBuilder line = new StringBuilder();
    line.append(System.getProperty("java.vendor.version")) // such as Temurin-25.0.3+9
        .append(' ')
        .append(System.getProperty("os.name"))
        .append(' ')
        .append(System.getProperty("os.arch"));
    String before = ": ";
    for (String name : CLASSES) {
      try {
        line.append(before).append(digest(Class.forName(name, false, null)));
      } catch (ClassNotFoundException e) {
        throw new UnsupportedJdk(e);
      }
      before = ", ";
    }
    return line.toString();
  }

  /** Returns name, length and checksum of the class file that this JDK has of the class. */
  static String digest(Class<?> type) throws UnsupportedJdk {
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
