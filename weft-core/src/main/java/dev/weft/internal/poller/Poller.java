package dev.weft.internal.poller;

import dev.weft.internal.switching.Pinning;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;

/**
 * A worker's poller: the place where an idle worker sleeps, and the source of events of ready
 * descriptors. The worker's thread sleeps in it; any thread may wake it, register descriptors, and
 * poll in its place while the worker is stuck. (The shape is that of {@code sun.nio.ch.Poller}: an
 * abstract class with a few hooks for each system.)
 *
 * <p>Until the first registration the worker just parks: the system's poller (epoll or a selector)
 * is made when it is first needed, so a scheduler without I/O pays nothing for it.
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>A thread is in {@link #select} only while it has set polling to 1; one thread at a time
 *       can.
 *   <li>No wake-up is lost while the system's poller is being made: a waking thread sets woken and
 *       then reads made; the worker reads made and then woken; and the thread that sets made wakes
 *       the worker afterwards.
 *   <li>made and closed never go back to false.
 *   <li>The system's poller is released once closed is set, no thread is between enter and exit,
 *       and none polls: no thread uses its descriptors after their numbers may have been reused.
 * </ul>
 */
public abstract class Poller {
  /** A direction: something can be read. */
  public static final int READ = 1;

  /** A direction: something can be written. */
  public static final int WRITE = 2;

  /** Both directions. */
  public static final int BOTH = READ | WRITE;

  private static final VarHandle POLLING;
  private static final VarHandle USERS;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      POLLING = lookup.findVarHandle(Poller.class, "polling", int.class);
      USERS = lookup.findVarHandle(Poller.class, "users", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** How long a worker parks instead of waiting in select when the process ends. */
  private static final long LAST_NAP_NANOS = 1_000_000;

  private static volatile boolean processEnds;

  private final ParkingPlace place = new ParkingPlace();
  private volatile boolean woken;

  // whether the system's poller exists
  private volatile boolean made;
  private volatile boolean closed;

  // 1 while a thread is in select
  @SuppressWarnings("unused")
  private volatile int polling;

  // how many threads are between enter and exit
  @SuppressWarnings("unused")
  private volatile int users;

  /** Creates the best poller of this system, or the one that {@code -Dweft.poller} names. */
  public static Poller create() {
    return isEpoll() ? new EpollPoller() : new NioPoller();
  }

  /**
   * Returns whether epoll is used, and with it descriptors of Weft's own.
   *
   * @throws IllegalArgumentException if {@code -Dweft.poller} names a poller that does not exist
   */
  public static boolean isEpoll() {
    return Choice.EPOLL;
  }

  private static final class Choice {
    static final boolean EPOLL = choose();

    private static boolean choose() {
      String name = System.getProperty("weft.poller", "");
      boolean possible =
          System.getProperty("os.name").equals("Linux")
              && System.getProperty("os.arch").matches("amd64|aarch64|riscv64");
      return switch (name.toLowerCase(Locale.ROOT)) {
        case "" -> possible;
        case "nio" -> false;
        case "epoll" -> {
          if (!possible) {
            throw new IllegalArgumentException(
                "-Dweft.poller=epoll needs Linux on amd64, aarch64 or riscv64: use nio");
          }
          yield true;
        }
        default ->
            throw new IllegalArgumentException("-Dweft.poller must be epoll or nio, not " + name);
      };
    }
  }

  // ---- the worker's side ----

  /**
   * Waits until it is woken, a descriptor is ready, or so many nanoseconds have passed ({@link
   * Long#MAX_VALUE}: no limit); may return early.
   */
  public final void await(long nanos) {
    if (processEnds) {
      LockSupport.parkNanos(this, Math.min(nanos, LAST_NAP_NANOS));
    }
    if (made) {
      if (lock()) {
        try {
          if (!closed) {
            select(woken || processEnds ? 0 : nanos);
          }
        } finally {
          woken = false;
          unlock();
        }
      }
    } else {
      place.enter();
      if (!woken && !made && !processEnds) {
        place.await(nanos);
      }
      woken = false;
      place.leave();
    }
  }

  /** Has workers that wake from now on park and not wait in native code: see ProcessEnd. */
  public static void processEnds() {
    processEnds = true;
  }

  /** Makes the current or the next {@link #await} return at once. */
  public final void wakeUp() {
    woken = true;
    if (!made) {
      place.wake();
    } else if (enter()) {
      try {
        wakeSelect();
      } finally {
        exit();
      }
    }
  }

  /** Handles the events that are ready now, unless another thread is polling; on any thread. */
  public final void poll() {
    if (made && lock()) {
      try {
        if (!closed) {
          select(0);
        }
      } finally {
        unlock();
      }
    }
  }

  /** Returns whether it makes sense to {@link #poll}. */
  public final boolean isMade() {
    return made;
  }

  /**
   * Closes it when its scheduler has stopped. Fibers and threads that still wait at it are
   * unparked, see that it is closed, and register at another poller.
   */
  public final void close() {
    synchronized (this) {
      if (closed || !made) {
        closed = true;
        return;
      }
      closed = true;
    }
    while (users != 0 || !lock()) {
      wakeSelect();
      Thread.onSpinWait();
    }
    try {
      release();
    } finally {
      unlock();
    }
  }

  /** Returns whether it is closed: no event comes from it any more. */
  public final boolean isClosed() {
    return closed;
  }

  // ---- for implementations ----

  /**
   * Makes the system's poller if there is none yet; called before each registration, on any thread.
   *
   * @throws UncheckedIOException if the system refuses
   */
  final void ensureMade() {
    if (!made) {
      boolean pinned = Pinning.begin(); // a worker enters the monitor too, in close()
      try {
        synchronized (this) {
          if (!made && !closed) {
            make();
            made = true;
          }
        }
      } finally {
        Pinning.end(pinned);
      }
      place.wake(); // the worker must wait in select from now on
    }
  }

  /**
   * Begins to use the system's poller; returns false, without an exit() to come, if it is closed.
   */
  final boolean enter() {
    USERS.getAndAdd(this, 1);
    if (closed) {
      exit();
      return false;
    }
    return true;
  }

  final void exit() {
    USERS.getAndAdd(this, -1);
  }

  abstract void make();

  /** Waits for so long, or not at all if 0, the frequent case; calls onReady of ready pollables. */
  abstract void select(long nanos);

  /** Makes the current or the next select return. */
  abstract void wakeSelect();

  /** Closes the system's poller and calls onReady of every registered pollable. */
  abstract void release();

  private boolean lock() {
    return polling == 0 && POLLING.compareAndSet(this, 0, 1);
  }

  private void unlock() {
    POLLING.setRelease(this, 0);
  }
}
