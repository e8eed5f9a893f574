package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The last element of a synchronized list is found by its size and a get; it is removed between
 * them.
 *
 * <p>After Java Concurrency in Practice, listing 5.1 (getLast and deleteLast).
 */
final class VectorLast {
  static final KnownBug BUG =
      KnownBug.of(
          VectorLast.class,
          "Java Concurrency in Practice, listing 5.1 (getLast and deleteLast)",
          Kind.ATOMICITY,
          () -> run(new Names()),
          () -> run(new FixedNames()));

  private VectorLast() {}

  private static void run(Names names) throws Exception {
    names.list.add("ann");
    names.list.add("bob");
    Together.run(names, Names::last, Names::deleteLast);
  }

  private static class Names {
    final List<String> list = Collections.synchronizedList(new ArrayList<>());

    String last() {
      int last = list.size() - 1;
      return list.get(last);
    }

    void deleteLast() {
      int last = list.size() - 1;
      list.remove(last);
    }
  }

  private static final class FixedNames extends Names {
    @Override
    String last() {
      synchronized (list) {
        return super.last();
      }
    }

    @Override
    void deleteLast() {
      synchronized (list) {
        super.deleteLast();
      }
    }
  }
}
