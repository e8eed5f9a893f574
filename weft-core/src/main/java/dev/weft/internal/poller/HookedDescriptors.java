package dev.weft.internal.poller;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The descriptors of the JDK's own sockets and channels that fibers of one worker have waited for,
 * by number. There are no more of them than the process has had descriptors at a time, so none is
 * taken out. Not thread safe: used on the worker's thread only.
 */
public final class HookedDescriptors {
  private final EpollPoller poller;
  private final EpollPoller.Control control;

  // for the thread that polls, which may be another while the worker is stuck
  private final EpollPoller.Control controlOfPolling;

  private @Nullable HookedDescriptor[] byNumber = new HookedDescriptor[64];

  HookedDescriptors(EpollPoller poller) {
    this.poller = poller;
    this.control = poller.new Control();
    this.controlOfPolling = poller.new Control();
  }

  /**
   * Has a thread unparked when the descriptor is ready, once.
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
      descriptor = new HookedDescriptor(poller, fd, controlOfPolling);
      byNumber[fd] = descriptor;
    }
    return descriptor.expect(direction, thread, control) ? descriptor : null;
  }
}
