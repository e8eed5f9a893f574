package dev.weft;

import dev.weft.internal.HookFamilies;
import dev.weft.internal.jdk.DispatcherHook;
import dev.weft.internal.jdk.PollerHook;
import dev.weft.internal.poller.EpollPoller;
import dev.weft.internal.poller.HookedDescriptor;
import dev.weft.internal.poller.HookedDescriptors;
import dev.weft.internal.poller.LinuxCalls;
import java.io.FileDescriptor;
import java.io.UncheckedIOException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * How fibers wait in the JDK's own sockets and channels: by the poller of their worker. Called by
 * the JDK, on the thread that waits, before it parks and after it has. And how they read and write
 * stream sockets. Whom this does not serve waits by the JDK's pollers, which are right for
 * everybody.
 */
final class HookedSockets {
  /** What the dispatcher gets for a failure, less the error's number. */
  private static final int FAILURE = 2 * DispatcherHook.RESET;

  private HookedSockets() {}

  static PollerHook.Front front(int direction) {
    return new PollerHook.Front(fd -> begin(fd, direction), fd -> end(direction));
  }

  static DispatcherHook.Listener listener() {
    return new DispatcherHook.Listener(
        HookedSockets::emptySocket,
        HookedSockets::receive,
        HookedSockets::emptied,
        HookedSockets::send,
        HookedDescriptors::noteClosing,
        result -> LinuxCalls.describe(FAILURE - result));
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

  // ---- around each read and write of a stream socket ----

  private static @Nullable Object emptySocket(int fd) {
    HookedDescriptors here = descriptorsHere();
    return here == null ? null : here.beginTry(fd, Thread.currentThread());
  }

  private static long receive(long fdAndLength, long address) {
    HookedDescriptors here = descriptorsHere();
    if (here == null) {
      return DispatcherHook.NOT_MINE;
    }
    long got = here.receive((int) (fdAndLength >> 32), address, (int) fdAndLength);
    if (got > 0) {
      return got;
    }
    boolean reset = got == -LinuxCalls.ECONNRESET || got == -LinuxCalls.EPIPE;
    return got == 0 ? DispatcherHook.END : reset ? DispatcherHook.RESET : status(got);
  }

  private static void emptied(FileDescriptor socket, int fd) {
    HookedDescriptors here = descriptorsHere();
    if (here != null) {
      here.noteEmpty(socket, fd, Thread.currentThread());
    }
  }

  private static long send(long fdAndLength, long address) {
    HookedDescriptors here = descriptorsHere();
    if (here == null) {
      return DispatcherHook.NOT_MINE;
    }
    long sent = here.send((int) (fdAndLength >> 32), address, (int) fdAndLength);
    return sent >= 0 ? sent : status(sent);
  }

  private static long status(long negatedError) {
    return negatedError == -LinuxCalls.EAGAIN
        ? DispatcherHook.UNAVAILABLE
        : negatedError == -LinuxCalls.EINTR ? DispatcherHook.INTERRUPTED : FAILURE + negatedError;
  }

  /** Returns null outside fibers, and in one that holds its thread, which could not wake it. */
  private static @Nullable HookedDescriptors descriptorsHere() {
    Fiber<?> self = HookFamilies.sockets ? Fiber.currentOrNull() : null;
    return self == null || !self.canLeaveThread()
        ? null
        : ((EpollPoller) self.worker.poller).hooked();
  }
}
