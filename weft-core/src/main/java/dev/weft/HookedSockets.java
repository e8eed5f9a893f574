package dev.weft;

import dev.weft.internal.HookFamilies;
import dev.weft.internal.jdk.DispatcherHook;
import dev.weft.internal.jdk.PollerHook;
import dev.weft.internal.poller.EpollPoller;
import dev.weft.internal.poller.HookedDescriptor;
import dev.weft.internal.poller.HookedDescriptors;
import java.io.FileDescriptor;
import java.io.UncheckedIOException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * How fibers wait in the JDK's own sockets and channels: by the poller of their worker. Called by
 * the JDK, on the thread that waits, before it parks and after it has; and around each read of a
 * stream socket. Whom this does not serve waits by the JDK's pollers, which are right for
 * everybody.
 */
final class HookedSockets {
  private HookedSockets() {}

  static PollerHook.Front front(int direction) {
    return new PollerHook.Front(fd -> begin(fd, direction), fd -> end(direction));
  }

  static DispatcherHook.Listener listener() {
    return new DispatcherHook.Listener(
        HookedSockets::emptySocket, HookedSockets::emptied, HookedDescriptors::noteClosing);
  }

  private static boolean begin(int fd, int direction) {
    HookedDescriptors here = descriptorsHere();
    if (here == null) {
      return false;
    }
    HookedDescriptor descriptor;
    try {
      descriptor = here.expect(fd, direction, Thread.currentThread());
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

  private static @Nullable Object emptySocket(int fd) {
    HookedDescriptors here = descriptorsHere();
    return here == null ? null : here.beginTry(fd, Thread.currentThread());
  }

  private static void emptied(FileDescriptor socket, int fd) {
    HookedDescriptors here = descriptorsHere();
    if (here != null) {
      here.noteEmpty(socket, fd, Thread.currentThread());
    }
  }

  /** Returns null outside fibers, and in one that holds its thread, which could not wake it. */
  private static @Nullable HookedDescriptors descriptorsHere() {
    Fiber<?> self = HookFamilies.sockets ? Fiber.currentOrNull() : null;
    return self == null || !self.canLeaveThread()
        ? null
        : ((EpollPoller) self.worker.poller).hooked();
  }
}
