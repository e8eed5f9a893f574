/**
 * The lock for a few instructions, {@link dev.weft.internal.lock.SpinLock}: under each worker (its
 * duty lock), channel, wait queue and registered descriptor.
 *
 * <p>Invariants: the holder neither parks nor calls code of the program, so a waiter spins; the one
 * exception is a ready queue of the program's own policy, called under the duty lock. A holder that
 * is a fiber cannot lose its worker meanwhile, only its core. A duty lock is the innermost: no
 * other lock is taken under it, and no two duty locks are held at once. A select takes the locks of
 * its channels in one order ({@code Selection}).
 */
package dev.weft.internal.lock;
