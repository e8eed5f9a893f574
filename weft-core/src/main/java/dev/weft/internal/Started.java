package dev.weft.internal;

/**
 * Whether there may be fibers. Code that the JDK calls on any thread checks this first: to look for
 * the current fiber loads classes that need Weft's flags.
 */
public final class Started {
  /** Set when the class of fibers is initialized. */
  public static volatile boolean fibers;

  private Started() {}
}
