/**
 * Weft's own channels, locks, scopes, pools and timers under weft-sim: small programs whose fibers
 * meet in every order, with points inside Weft's own classes. {@link dev.weft.stress.sim.OwnHouse}
 * runs them.
 */
@org.jspecify.annotations.NullMarked
package dev.weft.stress.sim;
