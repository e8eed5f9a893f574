/**
 * The hook: blocking calls of the JDK use the timers and the poller of the fiber's own worker.
 *
 * <pre>
 *   the JDK calls                            put in its place           which calls
 *
 *   VirtualThread.schedule                   TimerHook.InFront    ──► HookedTimer ──► Worker timers
 *   (Thread.sleep, timed parks, wait)
 *
 *   Poller.implRegister, implDeregister      WeftPoller           ──► HookedSockets.begin, end
 *   (a socket or channel is not ready)       (PollerHook)              │
 *                                                                      ▼
 *   SocketDispatcher.read, write, close      WeftDispatcher       ──► HookedDescriptors (per poller)
 *   (each call of a stream socket)           (DispatcherHook)          └► HookedDescriptor ─► epoll
 *
 *   each of them ──► the JDK's original, outside fibers, in pinned fibers, or if Weft cannot serve
 *
 *   VirtualThread.DEFAULT_SCHEDULER.execute  DefaultPool          ──► JvmHost: the thread is a guest
 *   (a platform thread starts a virtual one) (ThreadHook)              (with -Dweft.threads=all)
 * </pre>
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>HookInstallation installs each part before the first fiber runs, once and as a whole: a
 *       part that does not find every JDK member that it mirrors (JDK 25) changes nothing.
 *   <li>The JDK's original serves every wait that Weft leaves to it, and WaitingThreads finds both
 *       kinds: a close of a descriptor wakes all its waiters.
 *   <li>A wait at a descriptor is for the socket that was tried, never for a later socket with the
 *       same number: HookedDescriptors vouches for it.
 *   <li>Edge-triggered: a read that found nothing is repeated without a system call only if the
 *       edge of later data will reach the same wait.
 * </ul>
 */
package dev.weft.internal.hook;
