/**
 * Timers: the timer wheel of a worker and the timers of {@code dev.weft.time}.
 *
 * <pre>
 *   Timers.after, every ─► TimersCore ─► OneShotTimer, RecurringTimer ─┐ TimerNode
 *   sleep, join(limit) ──► Timeout ─────────────────────────────────────┤
 *   withTimeout ─────────► Deadline ────────────────────────────────────┤
 *   Thread.sleep … ──────► HookedTimer ─────────────────────────────────┤
 *                                                                       ▼
 *   TimerPlace (a worker) ─► under its duty lock: TimerQueue ── NearTimers, a heap: exact
 *                                  │                        └── TimerChunks of the wheel: 131 µs
 *                                  │ expire(now), after each batch
 *                                  ▼
 *                            onExpired, without the lock: unparks, or starts a fiber (TimerHost.fire)
 * </pre>
 *
 * <p>Invariants: a timer is in one queue from its start to its end; the thread that removes it from
 * the queue decides whether it fires; nothing fires early; onExpired runs on a worker's thread
 * between slices and never waits. stop() waits for one-shots, not for recurring timers.
 */
package dev.weft.internal.timer;
