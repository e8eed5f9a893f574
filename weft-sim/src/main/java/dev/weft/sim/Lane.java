package dev.weft.sim;

import dev.weft.internal.sched.FiberCore;
import org.jspecify.annotations.Nullable;

/** A fiber in a run, with a number that is the same in each run of a seed. */
final class Lane {
  final FiberCore<?> fiber;
  final int number;

  // the machine that it runs on; its crash freezes the fiber
  final Host host;
  boolean frozen;

  // whether it became ready while it was frozen
  boolean readyWhileFrozen;

  // what choosers keep of it
  long priority;

  // the operation that it is about to do: the number of a site, or -1, and its object
  int site = -1;
  @Nullable Object owner;

  // its thread, once it is known
  @Nullable Thread thread;

  // the monitor that it has left in Object.wait
  @Nullable Object leftMonitor;

  // how many class initializers it is in
  int initializers;

  // how many calls of the network it has made since the run ended
  int unwindOperations;

  // how many timers have fired since it began to wait for what another fiber holds
  int timersPassed;

  boolean ended;

  Lane(FiberCore<?> fiber, int number, Host host) {
    this.fiber = fiber;
    this.number = number;
    this.host = host;
  }

  /** Ends a freeze, after the run; returns whether the fiber became ready meanwhile. */
  boolean thaw() {
    boolean isReady = frozen && readyWhileFrozen;
    frozen = false;
    readyWhileFrozen = false;
    return isReady;
  }

  /** Returns the program's name of it, with its host; unnamed fibers are numbered. */
  String name() {
    String given = fiber.name();
    String name =
        given.isEmpty() || given.equals("fiber-" + fiber.id()) ? "fiber " + number : given;
    String place = host.name();
    return place.equals(Hosts.MAIN) || place.equals(name) ? name : name + " (" + place + ")";
  }

  @Override
  public String toString() {
    return name();
  }
}
