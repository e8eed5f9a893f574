package dev.weft.sim;

import org.jspecify.annotations.Nullable;

/** Chooses which fiber goes on, in one run. Made by {@link Choosers} for a seed. */
abstract class Chooser {
  /** Why there is a choice. */
  enum Moment {
    /** The current fiber is about to do an operation, and can go on. */
    POINT,
    /** The current fiber has yielded, or spins: it can go on, but wants others to. */
    YIELD,
    /** The current fiber waits or has ended. */
    BLOCKED
  }

  /** One choice: two or more fibers can go on. One object serves a whole run. */
  static final class Choice {
    // the fibers that can go on, by number
    Lane[] ready = new Lane[16];
    int count;

    // the index of the fiber that ran last; -1 if it cannot go on
    int current;

    // the number of the fiber that ran last; -1 if there was none
    int last;

    // how many choices there were before this one in the run
    int index;
    Moment moment = Moment.BLOCKED;

    /**
     * Returns the choice without a preemption: the current fiber goes on as long as it can and
     * wants to, then the next one by number.
     */
    int usual() {
      if (current >= 0 && moment == Moment.POINT) {
        return current;
      }
      for (int i = 0; i < count; i++) {
        if (ready[i].number > last) {
          return i;
        }
      }
      return 0;
    }

    /** Returns the index of a fiber by its number, or -1. */
    int indexOf(int number) {
      for (int i = 0; i < count; i++) {
        if (ready[i].number == number) {
          return i;
        }
      }
      return -1;
    }

    @Nullable Lane currentLane() {
      return current < 0 ? null : ready[current];
    }
  }

  /** Called when a fiber becomes ready for the first time. */
  void begun(Lane lane) {}

  /** Chooses a fiber; returns its index. */
  abstract int choose(Choice choice);
}
