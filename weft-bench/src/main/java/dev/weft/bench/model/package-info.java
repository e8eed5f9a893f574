/** The parts of a comparison: contestants, metrics, bars, outcomes. */
@NullMarked
package dev.weft.bench.model;

import org.jspecify.annotations.NullMarked;
