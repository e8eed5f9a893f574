/**
 * The scheduler: fibers, workers, their queues and timers, scopes and deadlines.
 *
 * <pre>
 *   go(body) ─► SchedulerCore.begin ─► FiberCore.begin ─► Placement.forNew ─► Worker
 *
 *   unpark, timer, poller, JDK                 Worker (one thread)
 *     │ FiberCore.becomeReady: the turn          runBatch ─► Slice.runOn ─► Mounting.run
 *     ▼                                            ▲            │ parks: turn IDLE
 *   FiberCore.enqueue ─► Placement.forReady        │            │ yields: putBack
 *     ├─ this worker's thread ─► ready queue ──────┤            ▼ ends: FiberEnd tells the waiters
 *     └─ any other thread ─────► inbox ─► doDuties ┘
 *                                                idle: steal ─► sleep in the Poller, maybe as Sentry
 *
 *   FiberCore ─► FiberCancel ─► FiberThread ─► FiberEnd ─► Fiber         (superclasses: one object)
 *   Worker ─► WorkerQueue ─► WorkerTimers ─► WorkerCounts ─► SpinLock    (the duty lock)
 *   SchedulerCore ─► SchedulerLife ─► Scheduler                          (start, drain, stop)
 *   OpenBlocks: the Deadlines, ScopeCores and shields that a fiber is in; ScopeTree cancels along them
 * </pre>
 *
 * <p>Invariants that span classes:
 *
 * <ul>
 *   <li>A fiber is in one queue or on one worker, never both: the turn, in {@link
 *       dev.weft.internal.sched.FiberCore}.
 *   <li>No wake-up is lost: the waking thread writes (inbox, timer, outcome) and then reads whether
 *       the other side sleeps; the other side announces its sleep and then reads. See {@link
 *       dev.weft.internal.sched.Worker} and {@link dev.weft.internal.sched.FiberEnd}.
 *   <li>A worker never waits between slices: it takes spin locks only, and starts a fiber for work
 *       that may wait.
 *   <li>The end of a fiber is recorded and its waiters are woken without an allocation.
 * </ul>
 *
 * <p>The shape is Go's ({@code runtime/proc.go}): workers with queues of their own, work stealing,
 * and idle workers that look once more after they have announced their sleep. It differs in that a
 * policy orders each ready queue, and in that bound fibers stay with their worker.
 */
package dev.weft.internal.sched;
