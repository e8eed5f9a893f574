package dev.weft.sim.boot;

import java.util.Random;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The methods that rewritten code calls. This class and {@link CurrentWorld} are loaded by the boot
 * loader, because rewritten classes of the JDK have to see them. Outside a simulation each method
 * does what the code did before it was rewritten.
 */
public final class RewrittenCalls {
  /** How many processors each simulated machine has. */
  private static final int PROCESSORS = 4;

  /** The simulation that runs now, if any. */
  private static final AtomicReference<@Nullable CurrentWorld> WORLD = new AtomicReference<>();

  /** How many threads the JVM's unblocker thread is making ready at this moment. */
  private static final AtomicInteger UNBLOCKING = new AtomicInteger();

  private RewrittenCalls() {}

  /**
   * Sets the simulation that runs now.
   *
   * @throws IllegalStateException if another one runs
   */
  public static void enter(CurrentWorld world) {
    if (!WORLD.compareAndSet(null, world)) {
      throw new IllegalStateException("another simulation runs in this JVM");
    }
  }

  /** Ends a simulation, if it is the one that runs now. */
  public static void leave(CurrentWorld world) {
    WORLD.compareAndSet(world, null);
  }

  static @Nullable CurrentWorld here() {
    CurrentWorld now = WORLD.get();
    return now != null && now.inside() ? now : null;
  }

  /** Returns whether the current thread is inside a simulation. */
  public static boolean inside() {
    return here() != null;
  }

  // ---- time ----

  /** In place of {@code System.nanoTime}. */
  public static long nanoTime() {
    CurrentWorld here = here();
    return here != null ? here.nanoTime() : System.nanoTime();
  }

  /** In place of {@code System.currentTimeMillis}. */
  public static long currentTimeMillis() {
    CurrentWorld here = here();
    return here != null ? here.wallNanos() / 1_000_000 : System.currentTimeMillis();
  }

  /** After {@code VM.getNanoTimeAdjustment(offsetSeconds)}, which returned {@code real}. */
  public static long nanoTimeAdjustment(long offsetSeconds, long real) {
    CurrentWorld here = here();
    return here != null ? here.wallNanos() - offsetSeconds * 1_000_000_000L : real;
  }

  /** Before a thread waits for so long by its host's clock: how long that is for the simulation. */
  public static long simulationNanos(long nanos) {
    CurrentWorld here = here();
    return here != null ? here.simulationNanos(nanos) : nanos;
  }

  // ---- randomness ----

  /** After a read of a seed. */
  public static long seed(long real) {
    CurrentWorld here = here();
    return here != null ? here.random() : real;
  }

  /** In place of a read of a seed. */
  public static long random() {
    CurrentWorld here = here();
    return here != null ? here.random() : 0;
  }

  /** In place of {@code Math.random} inside a simulation. */
  public static double randomDouble() {
    return (random() >>> 11) * 0x1.0p-53;
  }

  /** In place of {@code SecureRandom.nextBytes}; returns false outside a simulation. */
  public static boolean fill(byte[] bytes) {
    CurrentWorld here = here();
    if (here == null) {
      return false;
    }
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) here.random();
    }
    return true;
  }

  /** After a read of the generator that all shuffles share; null: the caller makes a new one. */
  public static @Nullable Random sharedRandom(@Nullable Random real) {
    return here() != null ? null : real;
  }

  /** After a read of the salt that orders {@code Set.of} and {@code Map.of}. */
  public static long salt(long real) {
    return here() != null ? 0 : real;
  }

  /** After a read of the flag that orders {@code Set.of} and {@code Map.of}. */
  public static boolean reverse(boolean real) {
    return here() == null && real;
  }

  /** In place of {@code Thread.threadId} where it seeds a generator. */
  public static long threadIdOfSeed(Thread thread) {
    return here() != null ? 0 : thread.threadId();
  }

  // ---- threads ----

  /** Before a plain thread starts; returns true if a fiber has started in its place. */
  public static boolean startInPlace(Thread plain) {
    CurrentWorld here = here();
    return here != null && here.startInPlace(plain);
  }

  /** Returns the thread in place of a plain thread; null if it stands for itself. */
  public static @Nullable Thread inPlaceOf(Thread plain) {
    if (WORLD.get() == null || plain.isVirtual()) {
      return null;
    }
    CurrentWorld here = here();
    return here != null ? here.inPlaceOf(plain) : null;
  }

  /** In place of {@code parent.isDaemon()} where a new plain thread inherits that. */
  public static boolean isDaemon(Thread parent) {
    CurrentWorld here = here();
    return here != null ? here.isDaemon() : parent.isDaemon();
  }

  /** After a read of the current thread: returns the plain thread in whose place it runs. */
  public static Thread plainOf(Thread current) {
    CurrentWorld here = here();
    return here != null ? here.plainOf(current) : current;
  }

  /** In place of the JDK's counter of thread names, inside a simulation. */
  public static String threadName() {
    CurrentWorld here = here();
    return here != null ? here.threadName() : "";
  }

  /**
   * After the number of a thread pool, for its threads' names, was taken from the JDK's counter.
   */
  public static int poolNumber(int real) {
    CurrentWorld here = here();
    return here != null ? here.poolNumber() : real;
  }

  /** After the number of a timer, for its thread's name, was taken from the JDK's counter. */
  public static int timerNumber(int real) {
    CurrentWorld here = here();
    return here != null ? here.timerNumber() : real;
  }

  /** Returns the thread to unpark for this thread. */
  public static @Nullable Thread toUnpark(@Nullable Thread thread) {
    Thread other = thread == null ? null : inPlaceOf(thread);
    return other != null ? other : thread;
  }

  /** After a read of the default pool of {@code CompletableFuture}. */
  public static Executor pool(Executor real) {
    CurrentWorld here = here();
    return here != null ? task -> here.runLater(task, 0, "async") : real;
  }

  /** Before {@code scheduleDelayedTask}; returns true if the task will be run by a fiber. */
  public static boolean delayed(Object task) {
    CurrentWorld here = here();
    if (here == null) {
      return false;
    }
    long nanos = ((ScheduledFuture<?>) task).getDelay(TimeUnit.NANOSECONDS);
    here.runLater(() -> ((ForkJoinTask<?>) task).quietlyInvoke(), nanos, "delay");
    return true;
  }

  /** Before {@code Runtime.exit} and {@code halt}: inside a simulation does not return. */
  public static void exit(int status) {
    CurrentWorld here = here();
    if (here != null) {
      here.exit(status);
    }
  }

  /** Where the JDK would use what cannot be simulated. */
  public static void refuse(String what) {
    CurrentWorld here = here();
    if (here != null) {
      here.refuse(what);
    }
  }

  // ---- monitors ----

  /** Before {@code Object.wait} leaves a monitor. */
  public static void waitBegins(Object monitor) {
    CurrentWorld here = here();
    if (here != null) {
      here.waits(monitor);
    }
  }

  /** When {@code Object.wait} has entered the monitor again. */
  public static void waitEnds() {
    CurrentWorld here = here();
    if (here != null) {
      here.waits(null);
    }
  }

  /** Before {@code VirtualThread.compareAndSetOnWaitingList}. */
  public static void unblockBegins(boolean from, boolean to) {
    if (from && !to) {
      UNBLOCKING.incrementAndGet();
    }
  }

  /** At the end of {@code VirtualThread.unblock}. */
  public static void unblockEnds() {
    UNBLOCKING.decrementAndGet();
  }

  /** Returns whether the JVM's unblocker thread is making a thread ready. */
  public static boolean unblocks() {
    return UNBLOCKING.get() != 0;
  }

  // ---- the program ----

  /** In place of {@code Runtime.availableProcessors} in the program. */
  public static int availableProcessors(Runtime runtime) {
    return inside() ? PROCESSORS : runtime.availableProcessors();
  }

  /** Before an operation of the program on an object, or on none. */
  public static void point(@Nullable Object owner, int site) {
    CurrentWorld now = WORLD.get();
    if (now != null) {
      now.point(owner, site);
    }
  }

  /** In place of {@code Thread.onSpinWait}. */
  public static void spin() {
    CurrentWorld here = here();
    if (here != null) {
      here.spin();
    } else {
      Thread.onSpinWait();
    }
  }

  /** At the beginning of a class initializer of the program. */
  public static void initializerBegins() {
    CurrentWorld here = here();
    if (here != null) {
      here.initializer(true);
    }
  }

  /** At the end of a class initializer of the program. */
  public static void initializerEnds() {
    CurrentWorld here = here();
    if (here != null) {
      here.initializer(false);
    }
  }
}
