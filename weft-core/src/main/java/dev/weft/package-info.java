/**
 * Fibers that you steer: the faces of Weft. The machinery behind them is in {@code
 * dev.weft.internal}, and {@code docs/architecture.md} maps it.
 *
 * <pre>
 *   go(body) ──► Fiber ──► ready queue of a Worker ──► runs a slice ──► done ──► join()
 *                               ▲                           │
 *           schedule / unpark   │                           │ sleep, join, lock, channel, socket …
 *           timers, epoll ──────┤                           ▼
 *           other threads ──────┴──────────────────────── waiting (no thread is held)
 * </pre>
 *
 * <p>And coroutines that a program resumes by hand:
 *
 * <pre>
 *            resume()
 *   caller ───────────► coroutine      READY ──resume──► RUNNING ──end──► TERMINATED
 *          ◄───────────                  ▲                  │                  │
 *         yield() or end                 └──────yield───────┘                  │
 *                                        └───────────────reset─────────────────┘
 * </pre>
 *
 * <h2>Glossary</h2>
 *
 * <p>One word for one thing, in code, comments, messages, documents and tests.
 *
 * <h3>The things that run</h3>
 *
 * <dl>
 *   <dt>fiber
 *   <dd>A virtual thread that a Weft scheduler runs: it runs a body on the workers of its scheduler
 *       and leaves its worker whenever it waits.
 *   <dt>guest
 *   <dd>A virtual thread that the program starts inside a fiber. It runs on the same scheduler and
 *       counts as a fiber; its result and its failure belong to its Thread.
 *   <dt>body
 *   <dd>The code that a fiber, a coroutine, a scope block, withTimeout, shielded or blocking runs.
 *   <dt>coroutine
 *   <dd>A body with a stack of its own that its caller resumes by hand, on the caller's thread. No
 *       scheduler takes part.
 *   <dt>resumer
 *   <dd>The code that called resume() on a coroutine. A yield returns control to it.
 *   <dt>generator
 *   <dd>A coroutine that emits the elements of an Iterator.
 *   <dt>slice
 *   <dd>What a worker runs of one fiber without a break: from the mount to the next unmount.
 *   <dt>scheduling point
 *   <dd>A call at which a fiber may leave its worker. Between two scheduling points no other fiber
 *       of that worker runs.
 * </dl>
 *
 * <h3>Where fibers run</h3>
 *
 * <dl>
 *   <dt>scheduler
 *   <dd>A fixed number of workers, and the fibers that run on them.
 *   <dt>worker
 *   <dd>One thread of a scheduler with its ready queue, inbox, timers and poller, and the loop that
 *       serves them.
 *   <dt>caller thread
 *   <dd>The thread that called start() of a scheduler with useCaller(true). It is worker 0 while it
 *       is inside stop().
 *   <dt>plain thread
 *   <dd>A platform thread that is no worker, or a virtual thread that is no fiber.
 *   <dt>carrier
 *   <dd>The platform thread on which a virtual thread is mounted. The carrier of a fiber is a
 *       worker's thread, or a helper thread in a blocking call.
 *   <dt>mount, unmount
 *   <dd>To put a fiber on its carrier so that it runs, and to take it off; the JDK's words.
 *   <dt>park, unpark
 *   <dd>A parked fiber is unmounted and waits; an unpark makes it ready again. The same words for
 *       plain threads (LockSupport).
 *   <dt>pinned
 *   <dd>A fiber that cannot unmount: a native frame is on its stack, or Hook.disable() is in force.
 *       Its waits hold the worker.
 *   <dt>bound
 *   <dd>A fiber that runs every slice on one given worker (FiberOptions.onThread, switchTo(index)).
 *   <dt>home worker
 *   <dd>The worker to which a fiber goes when it becomes ready.
 *   <dt>fiber's executor
 *   <dd>The Executor that the JDK calls each time the fiber's virtual thread can run; it makes the
 *       fiber ready.
 *   <dt>turn
 *   <dd>A fiber's right to be queued or run. It guards against the JDK submitting one thread twice:
 *       a fiber is in one queue or on one worker, never both.
 * </dl>
 *
 * <h3>Queues and order</h3>
 *
 * <dl>
 *   <dt>ready
 *   <dd>A fiber that can run and waits for a worker.
 *   <dt>ready queue
 *   <dd>A worker's queue of ready fibers; the policy chooses the next. Guarded by the duty lock.
 *   <dt>inbox
 *   <dd>A worker's lock-free queue for fibers that other threads make ready; the worker moves them
 *       to its ready queue after each batch.
 *   <dt>batch
 *   <dd>The slices that a worker runs before it looks at its inbox, timers and poller: up to 64,
 *       fewer when slices are long.
 *   <dt>policy
 *   <dd>The order of a ready queue (Policy): fifo, priority, responseRatio, timeSlice,
 *       workStealing, or the user's.
 *   <dt>placement
 *   <dd>The rule that chooses the worker of a new or woken fiber, and of a timer.
 *   <dt>work stealing
 *   <dd>An idle worker (the thief) takes ready fibers from a busy worker (the victim).
 *   <dt>take over
 *   <dd>A worker moves ready fibers of a busy or stuck worker to its own ready queue, under any
 *       policy.
 *   <dt>stand in
 *   <dd>A worker serves the inbox, timers and poller of a stuck worker.
 *   <dt>family
 *   <dd>The fibers that one fiber started in one slice; the unit of depth-first order under work
 *       stealing.
 *   <dt>duty lock
 *   <dd>A worker's spin lock. It guards the ready queue, the timers and the fiber list; it is held
 *       for a few instructions and never during a slice.
 *   <dt>idle, asleep
 *   <dd>A worker without ready fibers is idle; it is asleep while it is parked, in a futex or in
 *       its poller.
 *   <dt>sentry
 *   <dd>The one sleeping worker that looks after the busy workers and takes over fibers that wait
 *       behind a long slice.
 *   <dt>watchdog
 *   <dd>The one thread per JVM that reports held workers, deadlocks, cycles and unobserved
 *       failures, and repairs lost wake-ups.
 *   <dt>stuck worker
 *   <dd>A worker in a slice that has not reached a scheduling point for 20 ms. Other workers take
 *       over its unbound fibers and stand in for it.
 *   <dt>lost wake-up
 *   <dd>A fiber that is ready while its worker sleeps. A fault of Weft's: the watchdog repairs,
 *       counts and logs it (SchedulerStats.rescues).
 * </dl>
 *
 * <h3>Waiting</h3>
 *
 * <dl>
 *   <dt>wait queue
 *   <dd>The FIFO queue of waiters of one lock, channel, condition or barrier (WaitQueue).
 *   <dt>waiter
 *   <dd>One wait of one fiber or plain thread; it is chosen once or gives up, never both.
 *   <dt>place
 *   <dd>A waiter's node in one wait queue; a select has one place for each clause that waits.
 *   <dt>give up
 *   <dd>A waiter ends its wait by itself: cancel, interrupt or time limit. It leaves nothing
 *       behind.
 *   <dt>hand-over
 *   <dd>A lock, permit, value or signal passes straight from its giver to one waiter.
 *   <dt>permit
 *   <dd>One unit of a Semaphore.
 *   <dt>signal
 *   <dd>What ends one wait at a ConditionVariable.
 *   <dt>fair
 *   <dd>First in, first out: the waiter that has waited longest is served first.
 *   <dt>spurious wake-up
 *   <dd>A return from a wait without its cause. Weft's waits have none.
 *   <dt>channel
 *   <dd>A FIFO of values between senders and receivers: rendezvous, buffered or unlimited.
 *   <dt>clause
 *   <dd>One send, receive, timeout or otherwise of a select.
 *   <dt>selection
 *   <dd>One run of a select: it takes the first ready clause, or waits at all clauses and is chosen
 *       at one.
 * </dl>
 *
 * <h3>Ending</h3>
 *
 * <dl>
 *   <dt>cancel
 *   <dd>A request that a fiber ends. Level at Weft's own waits (each one fails), edge at the JDK's
 *       (one interrupt).
 *   <dt>cancel point
 *   <dd>A call that fails in a cancelled fiber.
 *   <dt>time limit
 *   <dd>The longest duration of one wait or one body.
 *   <dt>deadline
 *   <dd>The point in time at which a time limit passes; of withTimeout or of a scope.
 *   <dt>shield
 *   <dd>Weft.shielded: holds cancels and deadlines from outside back until its body has ended.
 *   <dt>scope
 *   <dd>Structured concurrency: a block that no fiber started in it outlives (Scope).
 *   <dt>opener
 *   <dd>The fiber or thread that opened a scope and joins and closes it.
 *   <dt>joiner
 *   <dd>A Scope.Joiner, which decides when a scope has failed or succeeded. A fiber or thread in
 *       join() is "a caller of join".
 *   <dt>unobserved failure
 *   <dd>The exception of a fiber that no fiber or thread joined within a second; the handler and
 *       the log get it.
 *   <dt>drain
 *   <dd>stop(): run until no fiber, one-shot timer or pending event is left.
 *   <dt>give up on
 *   <dd>stop(limit): the scheduler abandons a cancelled fiber that does not end.
 *   <dt>deadlock
 *   <dd>All fibers wait and no timer, event or plain thread is left that could wake them.
 *   <dt>cycle
 *   <dd>Fibers that wait for each other in a circle of owners (locks, monitors, join).
 *   <dt>leak
 *   <dd>A fiber that waits for something that nothing alive can reach.
 * </dl>
 *
 * <h3>Time and I/O</h3>
 *
 * <dl>
 *   <dt>timer wheel
 *   <dd>A worker's hierarchical timing wheel (TimerQueue).
 *   <dt>tick
 *   <dd>The finest slot of the timer wheel: 131 µs (2^17 ns).
 *   <dt>near timer
 *   <dd>A timer due in less than two ticks; it is in a heap beside the wheel.
 *   <dt>poller
 *   <dd>A worker's epoll, or NIO selector. The worker sleeps in it and it unparks the fibers of
 *       ready sockets.
 *   <dt>edge-triggered
 *   <dd>One event for each change to ready, from one registration.
 *   <dt>one-shot
 *   <dd>One event for each registration.
 *   <dt>hook
 *   <dd>What makes blocking calls of the JDK use the timers and poller of the fiber's own worker.
 *   <dt>family (of hook)
 *   <dd>What can be switched by itself: timers, sockets, names (Hook.Family).
 *   <dt>helper
 *   <dd>A thread that runs the body of Weft.blocking. It belongs to no scheduler; all schedulers
 *       share the helpers.
 *   <dt>blocking call
 *   <dd>The body of Weft.blocking: the fiber runs it on a helper and then returns to its worker.
 * </dl>
 */
package dev.weft;
