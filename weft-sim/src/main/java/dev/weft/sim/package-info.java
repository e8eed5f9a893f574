/**
 * Deterministic simulation of ordinary blocking Java code, for tests.
 *
 * <pre>
 *   Simulation.explore ──► Explorer ──► one Run for each seed, on a Stage
 *                             │            Stage    the world of a scheduler: clock, choice of fibers
 *                             │            Chooser  a Strategy at work, with the seed
 *                             │            Disks    files; FileCalls is told of each change by the JDK
 *                             └─ fails ──► Shrinker ──► FailureReport: text, JSON, a page
 * </pre>
 *
 * <p>{@code dev.weft.sim.agent} rewrites the JDK and the program, so that time, randomness, plain
 * threads and files of the program are those of the simulation.
 */
@org.jspecify.annotations.NullMarked
package dev.weft.sim;
