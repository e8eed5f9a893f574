/**
 * I/O events: one-shot events of channels and descriptors that become ready.
 *
 * <pre>
 *   addEvent(channel, READ, callback) ──► Watched ──► the poller of a worker
 *                                            │               │ ready, error, hang-up
 *                                            ◄───────────────┘
 *                                            │
 *                      callback, as a fiber ─┴─ or the fiber that added it is scheduled
 * </pre>
 */
package dev.weft.io;
