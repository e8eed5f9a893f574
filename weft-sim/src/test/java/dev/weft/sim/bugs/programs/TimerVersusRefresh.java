package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;

/**
 * An entry expires at the moment at which it is refreshed: the timer looks whether it was
 * cancelled, and deletes afterwards.
 *
 * <p>After GoKer grpc/3017, istio/18454.
 */
final class TimerVersusRefresh {
  static final KnownBug BUG =
      KnownBug.of(
          TimerVersusRefresh.class,
          "GoKer grpc/3017, istio/18454",
          Kind.COMMUNICATION,
          () -> run(new Entry()),
          () -> run(new FixedEntry()));

  private TimerVersusRefresh() {}

  private static void run(Entry entry) throws Exception {
    Together.run(
        entry,
        e -> {
          Thread.sleep(10);
          e.expire();
        },
        e -> {
          Thread.sleep(10);
          if (e.refresh()) {
            Check.that(e.present, "a refreshed entry is gone");
          }
        });
  }

  private static class Entry {
    volatile boolean present = true;
    private volatile boolean timerCancelled;

    void expire() {
      if (!timerCancelled) {
        delete();
      }
    }

    private synchronized void delete() {
      present = false;
    }

    synchronized boolean refresh() {
      timerCancelled = true;
      return present;
    }
  }

  private static final class FixedEntry extends Entry {
    @Override
    synchronized void expire() {
      super.expire();
    }
  }
}
