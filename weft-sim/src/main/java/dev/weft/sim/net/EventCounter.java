package dev.weft.sim.net;

/** An event counter, as of eventfd(2): selectors are woken by it. */
final class EventCounter extends Descriptor {
  private boolean set;

  EventCounter(Machines machines, Machine machine) {
    super(machines, machine);
  }

  void set() {
    set = true;
    changed();
  }

  boolean reset() {
    boolean was = set;
    set = false;
    return was;
  }

  @Override
  int ready() {
    return set ? IN : 0;
  }

  @Override
  void close() {
    machine.closed(this);
  }

  @Override
  void crash() {
    // nothing outside the machine knows of it
  }
}
