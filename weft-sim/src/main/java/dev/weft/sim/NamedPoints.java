package dev.weft.sim;

import dev.weft.sim.agent.Sites;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * The points that one exploration has named. Code keeps its points when the exploration that put
 * them there has ended, and a test must not depend on the tests before it.
 */
final class NamedPoints {
  private static final byte NAMED = 1;
  private static final byte NOT_NAMED = 2;

  private final List<String> packages;

  // by site: 0 if it is not known yet
  private byte[] known = new byte[256];

  NamedPoints(List<String> packages) {
    this.packages = packages;
  }

  boolean has(int site) {
    if (site >= known.length) {
      known = Arrays.copyOf(known, 2 * site);
    }
    if (known[site] == 0) {
      known[site] = Objects.requireNonNull(Sites.get(site)).isIn(packages) ? NAMED : NOT_NAMED;
    }
    return known[site] == NAMED;
  }
}
