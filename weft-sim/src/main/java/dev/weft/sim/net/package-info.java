/**
 * The simulated network, as an operating system shows it: sockets, selectors, host names. It knows
 * nothing of fibers and seeds; {@link dev.weft.sim.net.NetworkWorld} gives it time, and {@link
 * dev.weft.sim.net.Path} says how packets fare.
 *
 * <pre>
 *   java.net, NIO ──► sun.nio.ch ──► RewrittenSockets ──► Kernel ─┐
 *   dev.weft.net ───► NetSocket ───► SimulatedNetSocket ──────────┤
 *                                                                 ▼
 *   StreamSocket ──► Flow ══ segments, each due at a time ══► StreamSocket     one Flow a direction
 *   DatagramSocket ════════ packets, each due at a time ════► DatagramSocket
 * </pre>
 *
 * <p>One thread runs all of it, and nothing parks in the middle of a change: there are no locks
 * that a fiber of a crashed host could hold. Only {@link dev.weft.sim.net.Kernel#poll} parks.
 */
@org.jspecify.annotations.NullMarked
package dev.weft.sim.net;
