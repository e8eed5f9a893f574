package dev.weft.internal.poller;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.weft.internal.lock.SpinLock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.IntBinaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A poller on Linux's epoll(7), called by the foreign function API.
 *
 * <pre>
 *   slots    0      1      2            epoll_data of a registration:
 *          ┌──────┬──────┬──────┐
 *          │ sock │ free │ sock │       ┌────────────────────┬──────────────┐
 *          └──────┴──────┴──────┘       │ number, ascending  │ slot         │  = its token
 *                                       └────────────────────┴──────────────┘
 * </pre>
 *
 * <p>Invariant: an event reaches the pollable that was registered when it arose, or none. The
 * kernel hands back the token; a slot with a new pollable has another number in its token. So an
 * event may come late, and the descriptor's number may have been reused.
 */
public final class EpollPoller extends Poller {
  /** EPOLLIN; the next ones are EPOLLPRI, EPOLLOUT, EPOLLERR, EPOLLHUP, EPOLLRDHUP and so on. */
  public static final int IN = 0x1;

  public static final int URGENT = 0x2;
  public static final int OUT = 0x4;
  public static final int ERROR = 0x8;
  public static final int HANG_UP = 0x10;
  public static final int PEER_ENDED = 0x2000;
  public static final int ONE_SHOT = 1 << 30;
  public static final int EDGE = 1 << 31;

  private static final int ADD = 1;
  private static final int REMOVE = 2;
  private static final int MODIFY = 3;
  private static final int CLOSE_ON_EXEC = 0x80000;
  private static final int NON_BLOCKING = 0x800;

  /** As many as a worker runs in one batch: the data of more would have left the cache by then. */
  private static final int MAX_EVENTS = 64;

  /** The kernel packs struct epoll_event on x86 only. */
  private static final boolean PACKED = System.getProperty("os.arch").equals("amd64");

  private static final int EVENT_SIZE = PACKED ? 12 : 16;
  private static final int DATA_OFFSET = PACKED ? 4 : 8;
  private static final long WAKE_UP_TOKEN = 0;

  private int epoll = -1;
  private int eventfd = -1;
  private MemorySegment events = MemorySegment.NULL;
  private MemorySegment time = MemorySegment.NULL;
  private MemorySegment state = MemorySegment.NULL;
  private boolean nanoseconds = true;

  // read by the polling thread, replaced and written under slotsLock
  private volatile AtomicReferenceArray<@Nullable Pollable> slots = new AtomicReferenceArray<>(64);
  private final SpinLock slotsLock = new SpinLock(); // no monitor: fibers and workers take it

  @GuardedBy("slotsLock")
  private int[] free = new int[64];

  @GuardedBy("slotsLock")
  private int freeCount;

  @GuardedBy("slotsLock")
  private int usedSlots = 1; // slot 0 belongs to the eventfd

  @GuardedBy("slotsLock")
  private int lastNumber;

  // an object of the hook's; the worker's thread only
  private @Nullable Object attachment;

  // ---- registering ----

  /**
   * Registers a descriptor.
   *
   * @param interest the events to report, in epoll's bits
   * @return 0, or a negated error number
   */
  public int add(Pollable pollable, int fd, int interest) {
    ensureMade();
    long token = takeSlot(pollable);
    int result = control(ADD, fd, interest, token);
    if (result == -LinuxCalls.EEXIST && isLeftOver(fd)) {
      result = control(MODIFY, fd, interest, token);
    }
    if (result < 0) {
      freeSlot(pollable);
    }
    return result;
  }

  /**
   * Returns whether the registration of a descriptor is left over from a wait in the JDK's code.
   */
  private boolean isLeftOver(int fd) {
    AtomicReferenceArray<@Nullable Pollable> known = slots;
    for (int i = 1; i < known.length(); i++) {
      Pollable pollable = known.get(i);
      if (pollable != null && pollable.givesUpRegistration(fd)) {
        return true;
      }
    }
    return false;
  }

  /** Changes the events of a registered descriptor; the kernel then checks its state anew. */
  public int modify(Pollable pollable, int fd, int interest) {
    return control(MODIFY, fd, interest, pollable.token);
  }

  /**
   * Watches a descriptor that may have been closed, and its number reused, since it was last
   * watched here: registers it if it is not registered. Called by the worker's thread, which alone
   * closes this poller, or by the polling thread.
   *
   * @return 0, or a negated error number
   */
  public int watch(Pollable pollable, int fd, int interest, Control control) {
    if (isClosed()) {
      return -LinuxCalls.EBADF;
    }
    if (pollable.token == 0) {
      ensureMade();
      int result = control.call(ADD, fd, interest, takeSlot(pollable));
      if (result < 0) {
        freeSlot(pollable);
      }
      return result;
    }
    int result = control.call(MODIFY, fd, interest, pollable.token);
    return result == -LinuxCalls.ENOENT ? control.call(ADD, fd, interest, pollable.token) : result;
  }

  /** Has the kernel report no more events of a descriptor that is watched edge-triggered. */
  public void silence(Pollable pollable, int fd, Control control) {
    if (!isClosed()) {
      int _ = control.call(MODIFY, fd, EDGE, pollable.token); // fails if fd is closed: silent too
    }
  }

  /** Returns the hook's object; only to be used on the worker's thread. */
  public @Nullable Object attachment() {
    return attachment;
  }

  /** Keeps an object for the hook; only to be used on the worker's thread. */
  public void attach(Object kept) {
    attachment = kept;
  }

  /** Ends a registration; the descriptor must still be open. */
  public void remove(Pollable pollable, int fd) {
    control(REMOVE, fd, 0, 0);
    freeSlot(pollable);
  }

  /** Ends the registration of a descriptor that is being closed, which ends the kernel's part. */
  public void forget(Pollable pollable) {
    freeSlot(pollable);
  }

  private int control(int operation, int fd, int interest, long token) {
    if (!enter()) {
      return -LinuxCalls.EBADF;
    }
    try {
      return new Control().call(operation, fd, interest, token);
    } finally {
      exit();
    }
  }

  /** The memory for a call of epoll_ctl; for one thread at a time. */
  public final class Control {
    private final int[] event = new int[4];
    private final MemorySegment memory = MemorySegment.ofArray(event);
    private final MemorySegment errno = LinuxCalls.newState();

    int call(int operation, int fd, int interest, long token) {
      event[0] = interest;
      event[DATA_OFFSET / 4] = (int) token;
      event[DATA_OFFSET / 4 + 1] = (int) (token >>> 32);
      return LinuxCalls.epollControl(epoll, operation, fd, memory, errno);
    }
  }

  private long takeSlot(Pollable pollable) {
    slotsLock.lock();
    try {
      int slot = freeCount > 0 ? free[--freeCount] : usedSlots++;
      if (slot >= slots.length()) {
        grow();
      }
      long token = ((long) ++lastNumber << 32) | slot;
      pollable.token = token;
      slots.set(slot, pollable);
      return token;
    } finally {
      slotsLock.unlock();
    }
  }

  @GuardedBy("slotsLock")
  private void grow() {
    AtomicReferenceArray<@Nullable Pollable> bigger =
        new AtomicReferenceArray<>(2 * slots.length());
    for (int i = 0; i < slots.length(); i++) {
      bigger.set(i, slots.get(i));
    }
    slots = bigger;
  }

  private void freeSlot(Pollable pollable) {
    slotsLock.lock();
    try {
      int slot = (int) pollable.token;
      if (slot > 0 && slots.get(slot) == pollable) {
        slots.set(slot, null);
        pollable.token = 0;
        if (freeCount == free.length) {
          free = Arrays.copyOf(free, 2 * freeCount);
        }
        free[freeCount++] = slot;
      }
    } finally {
      slotsLock.unlock();
    }
  }

  /** Returns how many registrations it has; for stress tests. */
  public int registrations() {
    slotsLock.lock();
    try {
      return usedSlots - 1 - freeCount;
    } finally {
      slotsLock.unlock();
    }
  }

  // ---- polling ----

  @Override
  void make() {
    Arena arena = Arena.ofAuto();
    events = arena.allocate((long) MAX_EVENTS * EVENT_SIZE, 8);
    time = arena.allocate(16, 8);
    state = arena.allocate(4, 4);
    open(
        (newEpoll, newEventfd) -> {
          epoll = newEpoll;
          eventfd = newEventfd;
          // Edge-triggered: each write causes one event, and the eventfd need not be read.
          return new Control().call(ADD, newEventfd, IN | EDGE, WAKE_UP_TOKEN);
        });
  }

  /**
   * Opens an epoll and an eventfd, and has the second watched by the first; if anything fails both
   * are closed.
   *
   * @param watch given the two descriptors; returns 0 or a negated error number
   */
  static void open(IntBinaryOperator watch) {
    int newEpoll = check("epoll_create1", LinuxCalls.epollCreate(CLOSE_ON_EXEC));
    int newEventfd = -1;
    boolean opened = false;
    try {
      newEventfd = check("eventfd", LinuxCalls.eventfd(0, CLOSE_ON_EXEC | NON_BLOCKING));
      check("epoll_ctl", watch.applyAsInt(newEpoll, newEventfd));
      opened = true;
    } finally {
      if (!opened) {
        LinuxCalls.close(newEpoll);
        if (newEventfd >= 0) {
          LinuxCalls.close(newEventfd);
        }
      }
    }
  }

  private static int check(String call, int result) {
    if (result < 0) {
      throw new UncheckedIOException(
          new IOException("cannot poll: " + call + ": " + LinuxCalls.describe(-result)));
    }
    return result;
  }

  @Override
  void select(long nanos) {
    int found = nanos <= 0 ? look() : waitFor(nanos);
    for (int i = 0; i < found; i++) {
      long at = (long) i * EVENT_SIZE;
      tell(events.get(JAVA_INT_UNALIGNED, at), events.get(JAVA_LONG_UNALIGNED, at + DATA_OFFSET));
    }
  }

  private int look() {
    return LinuxCalls.epollLook(epoll, events, MAX_EVENTS, state);
  }

  private int waitFor(long nanos) {
    if (nanos == Long.MAX_VALUE) {
      return LinuxCalls.epollWait(epoll, events, MAX_EVENTS, -1, state);
    }
    if (nanoseconds) {
      time.set(JAVA_LONG, 0, nanos / 1_000_000_000);
      time.set(JAVA_LONG, 8, nanos % 1_000_000_000);
      int found = LinuxCalls.epollWait(epoll, events, MAX_EVENTS, time, state);
      if (found != -LinuxCalls.ENOSYS && found != -LinuxCalls.EPERM) {
        return found;
      }
      nanoseconds = false; // a kernel before 5.11, or a sandbox without epoll_pwait2
    }
    int millis = (int) Math.min(Integer.MAX_VALUE, (nanos + 999_999) / 1_000_000);
    return LinuxCalls.epollWait(epoll, events, MAX_EVENTS, millis, state);
  }

  private void tell(int happened, long token) {
    int slot = (int) token;
    AtomicReferenceArray<@Nullable Pollable> known = slots;
    Pollable pollable = slot < known.length() ? known.get(slot) : null;
    if (pollable != null && pollable.token == token) {
      boolean failed = (happened & (ERROR | HANG_UP)) != 0;
      int directions =
          failed
              ? BOTH
              : ((happened & (IN | URGENT | PEER_ENDED)) != 0 ? READ : 0)
                  | ((happened & OUT) != 0 ? WRITE : 0);
      pollable.onReady(directions, failed || (happened & (PEER_ENDED | URGENT)) != 0);
    }
  }

  @Override
  void wakeSelect() {
    LinuxCalls.write(eventfd, MemorySegment.ofArray(new long[] {1}));
  }

  @Override
  void release() {
    LinuxCalls.close(epoll);
    LinuxCalls.close(eventfd);
    AtomicReferenceArray<@Nullable Pollable> known = slots;
    for (int i = 1; i < known.length(); i++) {
      Pollable pollable = known.get(i);
      if (pollable != null) {
        pollable.onReady(BOTH, false);
      }
    }
  }
}
