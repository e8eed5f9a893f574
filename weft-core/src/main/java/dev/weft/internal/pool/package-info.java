/** The machinery of {@link dev.weft.FiberPool}: its tasks, its fibers, its waiting submitters. */
package dev.weft.internal.pool;
