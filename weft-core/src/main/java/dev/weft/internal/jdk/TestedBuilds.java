package dev.weft.internal.jdk;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32;

/**
 * The JDK builds on which the tests of Weft have run with fast switching. Fast switching copies
 * code of {@code VirtualThread} and {@code Continuation}, goes on where their methods leave off,
 * and calls methods of {@code Thread}, so it is right only for the code that it was written
 * against: a JDK counts as tested if the class files of all three have the digests of one tested
 * build. A build whose classes differ in anything, be it a method that Weft does not use, is
 * switched by the JDK itself until a test run has seen it.
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

  /** The classes whose code fast switching copies, continues or calls. */
  private static final List<String> CLASSES =
      List.of("java.lang.VirtualThread", "jdk.internal.vm.Continuation", "java.lang.Thread");

  private TestedBuilds() {}

  /**
   * Checks that Weft's tests have run on this JDK.
   *
   * @throws UnsupportedJdk if they have not
   */
  public static void check() throws UnsupportedJdk {
    try (InputStream list = TestedBuilds.class.getResourceAsStream(LIST)) {
      if (list == null
          || !has(new String(list.readAllBytes(), StandardCharsets.UTF_8), digests(CLASSES))) {
        throw new UnsupportedJdk(
            "no test run of Weft has seen this build of the JDK; after one, add the line '%s' to %s"
                .formatted(line(), LIST));
      }
    } catch (IOException e) {
      throw new UnsupportedJdk(e);
    }
  }

  /** Returns whether one line of the list has all the digests. */
  static boolean has(String list, List<String> digests) {
    return list.lines()
        .filter(line -> !line.startsWith("#"))
        .anyMatch(
            line -> digests.stream().allMatch(each -> (line + ",").contains(" " + each + ",")));
  }

  /** Returns the line of the list that stands for this JDK. */
  static String line() throws UnsupportedJdk {
    return "%s %s %s: %s"
        .formatted(
            System.getProperty("java.vendor.version"), // such as Temurin-25.0.3+9
            System.getProperty("os.name"),
            System.getProperty("os.arch"),
            String.join(", ", digests(CLASSES)));
  }

  private static List<String> digests(List<String> names) throws UnsupportedJdk {
    List<String> digests = new ArrayList<>();
    for (String name : names) {
      try {
        digests.add(digest(Class.forName(name, false, null)));
      } catch (ClassNotFoundException e) {
        throw new UnsupportedJdk(e);
      }
    }
    return digests;
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
