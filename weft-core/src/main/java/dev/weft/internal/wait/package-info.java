/**
 * The one wait queue under locks, channels, conditions, barriers and select.
 *
 * <pre>
 *   waiting fiber or thread                         giver: unlock, send, signal, release …
 *
 *   new Waiter ── add ──►  WaitQueue  ◄── poll, choose ──┘  both under the owner's SpinLock
 *      │                 ┌──────┬──────┐
 *      │                 │ place│ place│ …  WaitNode: the queue link and the item of a hand-over
 *      ▼                 └──────┴──────┘
 *   await ─► parks ◄──────────────────── wake, after the lock is released (WakeList for many)
 *      ├─ chosen: returns with the item
 *      └─ cancel, interrupt, limit: gives up, leaves the queue, throws or returns false
 * </pre>
 *
 * <p>Invariants: a waiter is chosen once or gives up, never both, by one compare-and-set; a chosen
 * waiter returns and does not throw, so no hand-over is lost; a waiter that gave up is in no queue
 * when its call returns; queues are fair. A select is one waiter with a place in each channel.
 */
package dev.weft.internal.wait;
