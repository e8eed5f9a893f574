package dev.weft.internal.hook;

import dev.weft.internal.HookFamilies;
import dev.weft.internal.poller.EpollPoller;
import dev.weft.internal.poller.LinuxCalls;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.sched.WorkerMemory;
import java.io.FileDescriptor;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The callbacks of {@link PollerHook} and {@link DispatcherHook}. A fiber that waits in one of the
 * JDK's sockets or channels waits at the poller of its worker: the JDK calls begin on the waiting
 * thread before it parks, and end after. Pinned fibers and other virtual threads wait at the JDK's
 * own pollers, which serve every thread.
 */
final class HookedSockets {
  /** The dispatcher's result for a failure is this number minus the error number. */
  private static final int FAILURE = 2 * DispatcherHook.RESET;

  private HookedSockets() {}

  static PollerHook.Front front(int direction) {
    return new PollerHook.Front(fd -> begin(fd, direction), fd -> end(direction));
  }

  static DispatcherHook.Calls calls() {
    return new DispatcherHook.Calls(
        method("receive", DispatcherHook.READ),
        method("send", DispatcherHook.WRITE),
        HookedDescriptors::noteClosing,
        result -> LinuxCalls.describe(FAILURE - result));
  }

  private static MethodHandle method(String name, MethodType type) {
    try {
      return MethodHandles.lookup().findStatic(HookedSockets.class, name, type);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("cannot hook sockets: no method " + name + type, e);
    }
  }

  private static boolean begin(int fd, int direction) {
    HookedDescriptors here = descriptorsHere();
    if (here == null) {
      return false;
    }
    HookedDescriptor descriptor;
    assert WorkerMemory.beginNoPark();
    try {
      descriptor = here.expect(fd, direction, Thread.currentThread());
    } catch (UncheckedIOException e) { // no descriptor is left for a poller
      return false;
    } finally {
      assert WorkerMemory.endNoPark();
    }
    if (descriptor == null) {
      return false;
    }
    LockSupport.setCurrentBlocker(descriptor); // dumps and end() read it
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

  // ---- each read and write of a stream socket; called by method handles ----

  static int receive(FileDescriptor socket, int fd, long address, int length) {
    HookedDescriptors here = descriptorsHere();
    if (here == null) {
      return DispatcherHook.NOT_MINE;
    }
    long got;
    assert WorkerMemory.beginNoPark();
    try {
      got = here.receive(socket, fd, address, length, Thread.currentThread());
    } finally {
      assert WorkerMemory.endNoPark();
    }
    if (got > 0) {
      return (int) got;
    }
    boolean reset = got == -LinuxCalls.ECONNRESET || got == -LinuxCalls.EPIPE;
    return got == 0 ? DispatcherHook.END : reset ? DispatcherHook.RESET : status(got);
  }

  static int send(int fd, long address, int length) {
    HookedDescriptors here = descriptorsHere();
    if (here == null) {
      return DispatcherHook.NOT_MINE;
    }
    long sent;
    assert WorkerMemory.beginNoPark();
    try {
      sent = here.send(fd, address, length);
    } finally {
      assert WorkerMemory.endNoPark();
    }
    return sent >= 0 ? (int) sent : status(sent);
  }

  private static int status(long negatedError) {
    return negatedError == -LinuxCalls.EAGAIN
        ? DispatcherHook.UNAVAILABLE
        : negatedError == -LinuxCalls.EINTR
            ? DispatcherHook.INTERRUPTED
            : FAILURE + (int) negatedError;
  }

  /**
   * Returns null outside fibers and workers, and in a pinned fiber: its worker could not poll for
   * it.
   */
  private static @Nullable HookedDescriptors descriptorsHere() {
    FiberCore<?> self = HookFamilies.sockets ? FiberCore.currentOrNull() : null;
    return self == null || !self.canLeaveThread() || self.isOnHelper()
        ? null
        : HookedDescriptors.of((EpollPoller) self.worker.poller);
  }
}
