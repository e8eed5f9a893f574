/** Measures contestants in rounds, each one in a fresh JVM. */
@NullMarked
package dev.weft.bench.run;

import org.jspecify.annotations.NullMarked;
