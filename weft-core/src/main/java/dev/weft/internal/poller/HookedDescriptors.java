package dev.weft.internal.poller;

import dev.weft.internal.wait.SpinLock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The descriptors of the JDK's own sockets and channels that fibers of one worker have waited for,
 * by number. There are no more of them than the process has had descriptors at a time, so none is
 * taken out.
 *
 * <p>Who waits for the same descriptor again and again waits without a word to the kernel, which is
 * trusted to watch still ({@link HookedDescriptor}): a server that has always something to do saves
 * a system call for each message. Invariant: each such wait that lasts is confirmed, by telling the
 * kernel after all: before the worker sleeps, and else between one and two spans after it began, or
 * with the next poll after that.
 */
public final class HookedDescriptors {
  /** How long a generation is: a busy server of 1,000 connections comes round to each sooner. */
  private static final long SPAN_NANOS = 20_000_000;

  private final EpollPoller poller;
  private final EpollPoller.Control control;

  // for the thread that polls, which may be another while the worker is stuck
  private final EpollPoller.Control controlOfPolling;

  // the worker's thread only
  private @Nullable HookedDescriptor[] byNumber = new HookedDescriptor[64];

  // what has begun a trusted wait in this generation and in the last, each once; under the lock,
  // which is taken inside the lock of a descriptor and never the other way round
  private final SpinLock lock = new SpinLock();
  private List<HookedDescriptor> trusted = new ArrayList<>();
  private List<HookedDescriptor> trustedBefore = new ArrayList<>();
  private int generation = 1;

  // when this generation began, and an empty list for the next; the thread that polls
  private long began = System.nanoTime();
  private List<HookedDescriptor> spare = new ArrayList<>();

  HookedDescriptors(EpollPoller poller) {
    this.poller = poller;
    this.control = poller.new Control();
    this.controlOfPolling = poller.new Control();
  }

  /**
   * Has a thread unparked when the descriptor is ready, once. Called on the worker's thread.
   *
   * @param direction {@link Poller#READ} or {@link Poller#WRITE}
   * @return what to take the thread back from, or null if this descriptor cannot be watched here
   */
  public @Nullable HookedDescriptor expect(int fd, int direction, Thread thread) {
    if (fd >= byNumber.length) {
      byNumber = Arrays.copyOf(byNumber, Math.max(fd + 1, 2 * byNumber.length));
    }
    HookedDescriptor descriptor = byNumber[fd];
    if (descriptor == null) {
      descriptor = new HookedDescriptor(poller, this, fd, controlOfPolling);
      byNumber[fd] = descriptor;
    }
    return descriptor.expect(direction, thread, control) ? descriptor : null;
  }

  /** Told of a trusted wait that begins, under the lock of the descriptor. */
  void noteTrusted(HookedDescriptor descriptor) {
    lock.lock();
    try {
      if (descriptor.generation != generation) {
        trusted.add(descriptor);
        descriptor.generation = generation;
      }
    } finally {
      lock.unlock();
    }
  }

  /** Returns whether there may be a wait to confirm. */
  boolean trusts() {
    lock.lock();
    try {
      return !trusted.isEmpty() || !trustedBefore.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  /** Confirms what has waited since before this generation, if that has lasted; while polling. */
  void confirmOld() {
    if (trusts() && System.nanoTime() - began >= SPAN_NANOS) {
      confirmLastGeneration(generation);
    }
  }

  /** Confirms all; while polling. */
  void confirmAll() {
    confirmLastGeneration(generation + 1);
    confirmLastGeneration(generation + 1);
  }

  /** Ends a generation; of the one before confirms those whose wait began before the given one. */
  private void confirmLastGeneration(int before) {
    List<HookedDescriptor> last;
    began = System.nanoTime();
    lock.lock();
    try {
      last = trustedBefore;
      trustedBefore = trusted;
      trusted = spare;
      generation++;
    } finally {
      lock.unlock();
    }
    for (HookedDescriptor descriptor : last) {
      descriptor.confirm(before);
    }
    last.clear();
    spare = last;
  }
}
