package dev.weft.sim.net;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The descriptors that a selector looks at, as of epoll(7), level-triggered. */
final class EventSet extends Descriptor {
  private record Interest(Descriptor descriptor, int events) {
    int ready() {
      return descriptor.ready() & (events | ERROR | HANGUP);
    }
  }

  /** An event that is there. */
  record Ready(int number, int events) {}

  private final Watcher watcher = this::changed;

  // by number, in the order in which they were added
  private final Map<Integer, Interest> interests = new LinkedHashMap<>();

  EventSet(Machines machines, Machine machine) {
    super(machines, machine);
  }

  void put(int number, Descriptor descriptor, int events) {
    remove(number);
    interests.put(number, new Interest(descriptor, events));
    descriptor.watch(watcher);
    changed();
  }

  void remove(int number) {
    Interest interest = interests.remove(number);
    if (interest != null) {
      interest.descriptor.unwatch(watcher);
    }
  }

  List<Ready> events(int most) {
    List<Ready> ready = new ArrayList<>();
    for (Map.Entry<Integer, Interest> entry : interests.entrySet()) {
      int events = entry.getValue().ready();
      if (events != 0 && ready.size() < most) {
        ready.add(new Ready(entry.getKey(), events));
      }
    }
    return ready;
  }

  @Override
  int ready() {
    for (Interest interest : interests.values()) {
      if (interest.ready() != 0) {
        return IN;
      }
    }
    return 0;
  }

  @Override
  void close() {
    for (Integer number : List.copyOf(interests.keySet())) {
      remove(number);
    }
    machine.closed(this);
  }

  @Override
  void crash() {
    // nothing outside the machine knows of it
  }
}
