package dev.weft.sim;

/** Is told of crashes and restarts, at the moment they happen; must not wait. */
interface CrashListener {
  /** A host has crashed: its fibers are frozen. */
  void crashed(Host host);

  /** A host begins anew; its main has not begun. */
  default void restarted(Host host) {}
}
