/**
 * The rewriting of classes at test time: {@code Agent} loads it, {@code JdkPatches} says what
 * changes in the JDK, {@code ProgramRewriter} puts points into the program.
 */
@org.jspecify.annotations.NullMarked
package dev.weft.sim.agent;
