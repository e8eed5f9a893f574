/**
 * What Weft is compared in: one class a comparison, all listed in {@link
 * dev.weft.bench.suite.Suite}.
 */
@NullMarked
package dev.weft.bench.suite;

import org.jspecify.annotations.NullMarked;
