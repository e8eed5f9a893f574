package dev.weft;

import dev.weft.internal.HookFamilies;
import dev.weft.internal.jdk.PollerHook;
import dev.weft.internal.poller.EpollPoller;
import dev.weft.internal.poller.HookedDescriptor;
import java.io.UncheckedIOException;
import java.util.concurrent.locks.LockSupport;

/**
 * How fibers wait in the JDK's own sockets and channels: by the poller of their worker. Called by
 * the JDK, on the thread that waits, before it parks and after it has. Whom this does not serve
 * waits by the JDK's pollers, which are right for everybody.
 */
final class HookedSockets {
  private HookedSockets() {}

  static PollerHook.Front front(int direction) {
    return new PollerHook.Front(fd -> begin(fd, direction), fd -> end(direction));
  }

  private static boolean begin(int fd, int direction) {
    Fiber<?> self = HookFamilies.sockets ? Fiber.currentOrNull() : null;
    if (self == null || !self.canLeaveThread()) {
      return false; // a fiber that holds its thread could not be woken by it
    }
    EpollPoller poller = (EpollPoller) self.worker.poller;
    HookedDescriptor descriptor;
    try {
      descriptor = poller.hooked().expect(fd, direction, Thread.currentThread());
    } catch (UncheckedIOException e) { // no descriptor left to poll by
      return false;
    }
    if (descriptor == null) {
      return false;
    }
    LockSupport.setCurrentBlocker(descriptor); // for dumps, and for end
    return true;
  }

  private static boolean end(int direction) {
    if (LockSupport.getBlocker(Thread.currentThread()) instanceof HookedDescriptor descriptor) {
      LockSupport.setCurrentBlocker(null);
      descriptor.giveUp(direction);
      return true;
    }
    return false;
  }
}
