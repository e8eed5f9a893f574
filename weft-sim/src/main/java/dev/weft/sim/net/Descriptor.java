package dev.weft.sim.net;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * What a program has open: a socket, a selector or an event counter. Level-triggered, as poll(2):
 * {@link #ready} says what can be done now; whatever may have changed that calls {@link #changed}.
 */
abstract class Descriptor {
  // events, as of poll(2) and epoll on Linux
  static final int IN = 1;
  static final int OUT = 4;
  static final int ERROR = 8;
  static final int HANGUP = 16;

  /** {@code IOStatus.EOF}. */
  static final int END = -1;

  /** {@code IOStatus.UNAVAILABLE}. */
  static final int UNAVAILABLE = -2;

  private record Waiter(Thread thread, int events) {}

  /** Is told of changes, besides the threads that wait. */
  interface Watcher {
    void changed();
  }

  final Machines machines;
  final Machine machine;
  private final List<Waiter> waiters = new ArrayList<>();
  private final List<Watcher> watchers = new ArrayList<>();
  private final Map<Long, Integer> options = new HashMap<>();
  private final Map<SocketOption<?>, Object> extraOptions = new HashMap<>();

  Descriptor(Machines machines, Machine machine) {
    this.machines = machines;
    this.machine = machine;
    machine.opened(this);
  }

  /** Returns the events that are there now. */
  abstract int ready();

  /** Closes it; closing twice is harmless. */
  abstract void close();

  /** Its machine has crashed. */
  abstract void crash();

  // ---- waiting ----

  /** Parks until an event, a wake-up, an interrupt or the end of the time; 0: for ever. */
  final void await(int events, long nanos) {
    Waiter waiter = new Waiter(Thread.currentThread(), events | ERROR | HANGUP);
    waiters.add(waiter);
    try {
      if (nanos > 0) {
        LockSupport.parkNanos(this, nanos);
      } else {
        LockSupport.park(this);
      }
    } finally {
      waiters.remove(waiter);
    }
  }

  /** Wakes those that wait for an event that is there. */
  final void changed() {
    if (!waiters.isEmpty()) {
      int ready = ready();
      for (Waiter waiter : List.copyOf(waiters)) {
        if ((ready & waiter.events) != 0) {
          waiters.remove(waiter);
          LockSupport.unpark(waiter.thread);
        }
      }
    }
    if (!watchers.isEmpty()) {
      for (Watcher watcher : List.copyOf(watchers)) {
        watcher.changed();
      }
    }
  }

  /** Wakes all that wait. */
  final void wake() {
    List<Waiter> all = List.copyOf(waiters);
    waiters.clear();
    for (Waiter waiter : all) {
      LockSupport.unpark(waiter.thread);
    }
  }

  final void watch(Watcher watcher) {
    watchers.add(watcher);
  }

  final void unwatch(Watcher watcher) {
    watchers.remove(watcher);
  }

  // ---- options ----

  final int option(int level, int option) {
    return options.getOrDefault(key(level, option), Options.byDefault(level, option));
  }

  final void option(int level, int option, int value) {
    options.put(key(level, option), value);
  }

  private static long key(int level, int option) {
    return ((long) level << 32) | (option & 0xffff_ffffL);
  }

  final @Nullable Object option(SocketOption<?> option) {
    return extraOptions.get(option);
  }

  final void option(SocketOption<?> option, Object value) {
    extraOptions.put(option, value);
  }

  // ---- binding ----

  /** Binds to an address of the machine; returns the address with the port. */
  final InetSocketAddress bind(InetAddress address, int port, boolean stream) throws IOException {
    if (!machine.has(address)) {
      throw new BindException("Cannot assign requested address");
    }
    int taken = machine.bind(this, stream, port);
    if (taken < 0) {
      throw new BindException("Address already in use");
    }
    return new InetSocketAddress(address, taken);
  }

  /** Returns the address by which a machine at the given address sees this one. */
  final InetAddress addressTowards(InetAddress target) {
    return target.isLoopbackAddress() || target.isAnyLocalAddress()
        ? InetAddress.getLoopbackAddress()
        : machine.address();
  }
}
