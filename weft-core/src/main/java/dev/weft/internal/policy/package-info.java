/**
 * The ready queues of the shipped policies: in which order a worker runs its ready fibers. {@link
 * dev.weft.Policy} chooses one for each worker.
 *
 * <pre>
 *   FifoQueue            Policy.fifo()               first in, first out
 *   WokenFirstQueue      Policy.workStealing()       woken fibers, then the youngest family
 *   PriorityReadyQueue   Policy.priority()           FiberOptions.priority, with ageing
 *   ResponseRatioQueue   Policy.responseRatio()
 * </pre>
 *
 * <p>Invariants: a queue is called under the duty lock of its worker only ({@code WorkerQueue}), so
 * it needs no lock of its own and must not block. Every fiber that is added is returned once, by
 * {@code next} on the worker or by {@code nextForOther} to a worker that steals.
 */
package dev.weft.internal.policy;
