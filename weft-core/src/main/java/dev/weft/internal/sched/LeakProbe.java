package dev.weft.internal.sched;

/** An object that a leak check attaches to a fiber which its registry holds weakly. */
public interface LeakProbe {}
