/**
 * Locks and their kin, for fibers of any scheduler and plain threads alike.
 *
 * <pre>
 *                        first come, first served
 *                    ┌────────────────────────────────┐
 *   lock() ──free──► │                                │
 *      │             │  holder ◄─── w1 ◄─── w2 ◄─── w3 │ ◄── lock(), taken
 *      └─────────────│     │          │               │
 *                    │  unlock() ──────────────► hand-over: w1 holds it,
 *                    └────────────────│────────────── ┘ nobody can come between
 *                                     └ gives up (cancel, interrupt, time): gone without a trace
 * </pre>
 *
 * <p>Whoever waits gives its thread away. A call that says {@code throws InterruptedException} is a
 * cancel point; {@code lock()} is none, as {@link java.util.concurrent.locks.Lock} wants it.
 */
@NullMarked
package dev.weft.sync;

import org.jspecify.annotations.NullMarked;
