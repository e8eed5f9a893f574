package dev.weft.sim.net;

/** What the network needs of the simulation around it. */
public interface NetworkWorld {
  /** Returns the virtual time. */
  long now();

  /** Runs an action at a virtual time, between slices; the action must not wait. */
  Event at(long time, Runnable action);

  /** An action to come. */
  interface Event {
    /** Forgets the action. */
    void cancel();
  }

  /** Returns the machine of the fiber that runs. */
  Machine here();

  /** Returns whether the current thread is the fiber that runs. */
  boolean inside();

  /** Returns how packets between two machines fare, in both directions. */
  Path path(Machine one, Machine other);

  /** Called before each operation of a fiber: throws if the run is over and the fiber goes on. */
  void beforeOperation();

  /** Called before and after each wait of a fiber: throws if the run is over. */
  void aroundWait();
}
