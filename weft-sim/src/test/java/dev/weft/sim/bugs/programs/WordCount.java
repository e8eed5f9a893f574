package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Words are counted in a concurrent map by a get and a put.
 *
 * <p>After Shacham et al. 2011, composed operations on concurrent collections.
 */
final class WordCount {
  static final KnownBug BUG =
      KnownBug.of(
          WordCount.class,
          "Shacham et al. 2011, composed operations on concurrent collections",
          Kind.ATOMICITY,
          () -> run(new Words()),
          () -> run(new FixedWords()));

  private WordCount() {}

  private static void run(Words words) throws Exception {
    Together.run(words, w -> w.count("weft"), w -> w.count("weft"));
    Check.equal(2, words.counts.get("weft"), "count");
  }

  private static class Words {
    final ConcurrentHashMap<String, Integer> counts = new ConcurrentHashMap<>();

    void count(String word) {
      Integer before = counts.get(word);
      counts.put(word, before == null ? 1 : before + 1);
    }
  }

  private static final class FixedWords extends Words {
    @Override
    void count(String word) {
      counts.merge(word, 1, Integer::sum);
    }
  }
}
