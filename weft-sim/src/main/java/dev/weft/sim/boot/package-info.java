/**
 * What rewritten code calls. The boot loader has these classes; they refer to nothing outside
 * {@code java.base}.
 */
@org.jspecify.annotations.NullMarked
package dev.weft.sim.boot;
