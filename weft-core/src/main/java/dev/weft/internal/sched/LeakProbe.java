package dev.weft.internal.sched;

/** What a leak check hangs on a fiber that its registry holds weakly. */
public interface LeakProbe {}
