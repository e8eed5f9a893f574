package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.ArrayList;
import java.util.List;

/**
 * Entries of a journal draw their number in one critical section and are written in the next.
 *
 * <p>After the classic number drawn under a lock and used outside it.
 */
final class TicketOrder {
  static final KnownBug BUG =
      KnownBug.of(
          TicketOrder.class,
          "the classic number drawn under a lock and used outside it",
          Kind.ATOMICITY,
          () -> run(new Journal()),
          () -> run(new FixedJournal()));

  private TicketOrder() {}

  private static void run(Journal journal) throws Exception {
    Together.run(journal, Journal::log, Journal::log);
    Check.equal(List.of(1, 2), journal.entries, "entries");
  }

  private static class Journal {
    final List<Integer> entries = new ArrayList<>();
    private int last;

    private synchronized int draw() {
      last = last + 1;
      return last;
    }

    private synchronized void write(int number) {
      entries.add(number);
    }

    void log() {
      write(draw());
    }
  }

  private static final class FixedJournal extends Journal {
    @Override
    synchronized void log() {
      super.log();
    }
  }
}
