/**
 * The pollers: where idle workers sleep and from where events of descriptors come; and the system
 * calls of Weft.
 *
 * <pre>
 *   Worker.sleep ──► Poller.await ──┬─ nothing registered yet: ParkingPlace ─► park, later Futex
 *                                   └─ else select: EpollPoller (epoll_wait) or NioPoller (Selector)
 *                                                     │
 *   other threads ──► wakeUp: unpark, futex           │ an event, on the polling thread
 *                     or eventfd                      ▼
 *   sockets, IoManager, hook ──► add ──► slot     Pollable.onReady ──► unparks the waiting fibers
 *
 *   LinuxCalls    every system call, by the foreign function API
 *   CallMemory    the memory that a thread's system calls use
 * </pre>
 *
 * <p>Invariants: one thread at a time is in select; a wake-up that comes before the sleep ends the
 * sleep at once; an event reaches the pollable that was registered when it arose, or none (the
 * token of EpollPoller); after close no descriptor of the poller is used. onReady runs on a
 * worker's own thread and never blocks.
 */
package dev.weft.internal.poller;
