/**
 * What all layers below share, and what knows none of them: small classes without a protocol.
 *
 * <pre>
 *   time       Clock (a scheduler's, or a simulation's), Nanos (durations as nanoseconds)
 *   messages   Log, PlainText, JsonText, WaitWords (the name of a wait in a method of the JDK)
 *   failures   Faults (faults of Weft's own, counted), Unchecked, Uninterrupted
 *   settings   HookFamilies (-Dweft.hook), JvmThreads (-Dweft.threads), Started (whether there may
 *              be fibers yet)
 * </pre>
 *
 * <p>Invariant: a class here uses no other package of Weft's. So each can be loaded in a JVM
 * without Weft's flags, which {@link dev.weft.internal.jdk} needs.
 */
package dev.weft.internal;
