/**
 * Locks and their kin, for fibers of any scheduler and plain threads alike.
 *
 * <pre>
 *   lock(), free                        lock(), taken: to the end of the queue
 *        │                                   │
 *        ▼        unlock() hands over        ▼
 *     holder ◄───────── w1 ◄──── w2 ◄──── w3
 *                                 │
 *                                 ▼ cancel, interrupt, time-out: gone, without a trace
 * </pre>
 *
 * <p>A fiber that waits releases its worker thread. A call that says {@code throws
 * InterruptedException} is a cancel point; {@code lock()} is none, as {@link
 * java.util.concurrent.locks.Lock} wants it.
 */
package dev.weft.sync;
