package dev.weft.internal.poller;

import dev.weft.internal.switching.Pinning;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;

/**
 * Where an idle worker waits, and what tells it that a descriptor is ready. The worker's thread
 * waits; any thread wakes it, registers, and may poll in its place while it is stuck.
 *
 * <p>Until something is registered the worker just parks: the system's poller is made when it is
 * first needed, so a scheduler without I/O pays nothing for it.
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>Nobody waits in {@link #select} unless polling is 1, and it is so for one thread at a time.
 *   <li>No wake-up is lost while the poller is being made: a waker sets woken and then looks at
 *       made; the worker looks at made and then at woken; and who sets made then wakes it.
 *   <li>made never goes back to false; closed never does either.
 *   <li>The system's poller is released when closed is set and nobody is in between enter and exit,
 *       nor polls: its descriptors have no chance to be another's when they are used.
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

  /** How long a worker naps instead of waiting in select when the process ends. */
  private static final long LAST_NAP_NANOS = 1_000_000;

  private static volatile boolean processEnds;

  private final ParkingPlace place = new ParkingPlace();
  private volatile boolean woken;

  // whether the system's poller is there
  private volatile boolean made;
  private volatile boolean closed;

  // 1 while a thread is in select
  @SuppressWarnings("unused")
  private volatile int polling;

  // how many threads use the system's poller otherwise
  @SuppressWarnings("unused")
  private volatile int users;

  /** Creates the best poller of this system, or the one that {@code -Dweft.poller} names. */
  public static Poller create() {
    return isEpoll() ? new EpollPoller() : new NioPoller();
  }

  /**
   * Returns whether descriptors of Weft's own are used.
   *
   * @throws IllegalArgumentException if the property names a poller that there is not
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
   * Waits until woken or something is ready, or for so many nanoseconds, {@link Long#MAX_VALUE} for
   * as long as it takes; may return early.
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

  /** Has workers that are woken from now on nap, not wait in native code: see ProcessEnd. */
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

  /** Takes what is ready now, unless another thread is at it; called by any thread. */
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
   * Closes it when its scheduler has stopped. Who still waits by it is woken, sees that it is
   * closed, and goes to another one.
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

  /** Returns whether it is closed, and will tell nobody anything any more. */
  public final boolean isClosed() {
    return closed;
  }

  // ---- for implementations ----

  /**
   * Makes the system's poller if there is none yet; called by whoever registers, on any thread.
   *
   * @throws UncheckedIOException if the system refuses
   */
  final void ensureMade() {
    if (!made) {
      boolean pinned = Pinning.begin(); // a worker takes the monitor too, when it closes
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
      place.wake(); // it must wait in select from now on
    }
  }

  /** Begins to use it; returns false, and nothing needs to be ended, if it is closed. */
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

  /** Tells those that are ready, after waiting for so long; 0: not at all, and often called so. */
  abstract void select(long nanos);

  /** Makes the current or the next select return. */
  abstract void wakeSelect();

  /** Gives back what make made, and wakes everything that is registered. */
  abstract void release();

  private boolean lock() {
    return polling == 0 && POLLING.compareAndSet(this, 0, 1);
  }

  private void unlock() {
    POLLING.setRelease(this, 0);
  }
}
