package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A concurrent map is asked for a key, and then filled: a second thread replaces the group to which
 * the first has already added a member.
 *
 * <p>After Shacham et al. 2011, composed operations on concurrent collections.
 */
final class CheckThenPut {
  static final KnownBug BUG =
      KnownBug.of(
          CheckThenPut.class,
          "Shacham et al. 2011, composed operations on concurrent collections",
          Kind.ATOMICITY,
          () -> run(new Groups()),
          () -> run(new FixedGroups()));

  private CheckThenPut() {}

  private static void run(Groups groups) throws Exception {
    Together.run(groups, g -> g.group("red").add("ann"), g -> g.group("red").add("bob"));
    Check.equal(2, groups.group("red").size(), "members");
  }

  private static class Groups {
    final ConcurrentHashMap<String, List<String>> groups = new ConcurrentHashMap<>();

    List<String> group(String name) {
      if (!groups.containsKey(name)) {
        groups.put(name, new CopyOnWriteArrayList<>());
      }
      return groups.get(name);
    }
  }

  private static final class FixedGroups extends Groups {
    @Override
    List<String> group(String name) {
      return groups.computeIfAbsent(name, _ -> new CopyOnWriteArrayList<>());
    }
  }
}
