/**
 * How virtual threads and coroutines are switched: the JDK's continuations, with Weft's own code
 * around them where the JDK's costs too much.
 *
 * <pre>
 *   Slice (a worker's thread)                         Coroutine.resume
 *     │ run(thread, slice)                              │
 *     ▼                                                 ▼
 *   Mounting ── MountingClass: mount ─► ContinuationRun.run ◄── RawContinuation
 *     │                                    │  Continuation.run of the JDK, without two fences
 *     │                                    ▼
 *     │                          the body runs … Mounting.park, Thread.yield, suspend
 *     │ leave(thread, PARKS or YIELDS)     │
 *     ▼                                    ▼
 *   PARKED or YIELDED ◄──────────────── returns to the carrier
 *
 *   VirtualThreads    creates and starts threads with an executor of Weft's
 *   CarrierThread     the worker's thread, as the JDK's queues expect a carrier
 *   UnmountedThread   holds a thread still for a look; MonitorOwners, HeldMonitors look
 * </pre>
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>The state field of {@code VirtualThread} has the meaning that the JDK gives it: a thread
 *       may be switched by Weft in one slice and by the JDK in the next.
 *   <li>Between the end of a slice and {@code Mounting.leave} no thread can make it ready.
 *   <li>Weft's code is used only if the class files of {@code java.lang.VirtualThread} and {@code
 *       jdk.internal.vm.Continuation} have the digests of a build that the tests have run on
 *       ({@code TestedBuilds}), and every member that it uses is found; else the JDK switches, and
 *       only speed is lost.
 * </ul>
 */
package dev.weft.internal.switching;
