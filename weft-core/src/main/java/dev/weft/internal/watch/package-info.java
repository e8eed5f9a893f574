/**
 * The watchdog and the diagnosis of schedulers.
 *
 * <pre>
 *   Watchdog (one thread per JVM, looks every 10 to 50 ms)
 *     ├─ Attach.look, each 100 ms ► serves another process that asks
 *     ├─ a slice of 20 ms ────────► worker.stuck: other workers take over and stand in
 *     ├─ a slice of blockedAfter ─► a warning with the stack
 *     ├─ the same on all computing threads ► ComputingThreads.noteHeld: workers run the others
 *     ├─ asleep with ready fibers ► wakes the worker: a lost wake-up, counted as a rescue
 *     ├─ failures of a second ago ► UnobservedFailures, on a thread of their own
 *     ├─ DeadlockCycles.step ─────► WaitGraph ─► LockOwners, on a thread of their own ─► a cycle
 *     │                             of fibers: a warning
 *     ├─ a standstill of 1 s ─────► DeadlockReport: a warning
 *     └─ stop() waits for 1 s ────► LeakCheck, on a thread of its own: a warning, or stop() fails
 *
 *   the last idle worker in stop() ─► SchedulerLife.noteIdle ─► DeadlockReport.ofStandstill
 *   Scheduler.dump, leaks, stats ───► Dumps, LeakCheck, Stats
 *   Scheduler.groupedDump ──────────► FiberGroups, and the troubles that the watchdog knows
 * </pre>
 *
 * <p>Invariants: no slice waits for the watchdog. An observation may be outdated, so a report needs
 * two looks that agree with no slice in between (slice counts). Only the watchdog's thread writes
 * what a Watch remembers.
 */
package dev.weft.internal.watch;
