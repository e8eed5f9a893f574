/**
 * The machinery of {@link dev.weft.FiberPool}.
 *
 * <pre>
 *   execute(task) ──► FiberPoolCore ──► an idle PoolFiber, or a new one       which runs the task,
 *                         │                                                   then asks for the next
 *                         ├───────────► the queue, while all fibers work
 *                         └───────────► a PoolSubmitter waits, or the task is refused, or the
 *                                       caller runs it: {@code PoolOptions.whenFull}
 * </pre>
 *
 * <p>A task is in one of these places at a time; one lock guards all of them.
 */
package dev.weft.internal.pool;
