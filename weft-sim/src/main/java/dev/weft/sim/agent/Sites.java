package dev.weft.sim.agent;

import java.util.Arrays;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/** The points that have been put into the program, by number. Safe for any thread. */
public final class Sites {
  /**
   * A point.
   *
   * @param what the operation after the point, such as {@code writes Ledger.total}
   * @param target the field, or the class of the method, that the operation uses: operations on
   *     different targets do not conflict
   * @param writes whether the operation may change something
   */
  public record Site(
      String type,
      String method,
      String file,
      int line,
      String what,
      String target,
      boolean writes) {
    /** Returns the file and the line. */
    public String place() {
      return file + ":" + line;
    }

    /** Returns whether it is in one of these packages, or in no class. */
    public boolean isIn(Collection<String> packages) {
      return type.isEmpty()
          || packages.stream().anyMatch(name -> Sites.isIn(type, name.replace('.', '/')));
    }
  }

  private static volatile Site[] all = new Site[256];
  private static int count;

  private Sites() {}

  /** Adds a point that has no line of its own; returns its number. */
  public static int add(String what, String target) {
    return add(new Site("", "", "", 0, what, target, true));
  }

  static synchronized int add(Site site) {
    Site[] sites = all;
    if (count == sites.length) {
      sites = Arrays.copyOf(sites, 2 * count);
    }
    sites[count] = site;
    all = sites;
    return count++;
  }

  /** Returns whether a class is in a package, below it, is the class itself or is nested in it. */
  static boolean isIn(String type, String prefix) {
    return type.startsWith(prefix)
        && (type.length() == prefix.length()
            || type.charAt(prefix.length()) == '/'
            || type.charAt(prefix.length()) == '$');
  }

  /** Returns a point by its number; null if the number is negative. */
  public static @Nullable Site get(int number) {
    return number < 0 ? null : all[number];
  }
}
