/**
 * The I/O events of {@code dev.weft.io}: one-shot events of channels and descriptors.
 *
 * <pre>
 *   addEvent(channel, READ, callback) ┐
 *   addEvent(channel, READ)           ├─► IoManagerCore ─► Watched (one per channel) ─► Poller.add
 *   await(channel, READ, limit)       │                       reader, writer: Listener
 *   awaitAny(channels, READ, limit)   ┘ FirstReady              ▲
 *                                                               │ onReady: removes the listener,
 *   Listener.fire: starts a fiber, or wakes one ◄───────────────┘ watches the other direction
 *
 *   close of the channel ─► ChannelInternals.watch ─► fires both listeners before the close
 *   IoHost: what the scheduler gives (a poller, fibers for callbacks, the count of pending events)
 * </pre>
 *
 * <p>Invariants: an event fires once or is removed, never both; it counts as pending until then,
 * and stop() waits for it; a Watched is registered exactly while it has a listener (with NIO: until
 * the channel is closed), and a dead one is never used again.
 */
package dev.weft.internal.io;
