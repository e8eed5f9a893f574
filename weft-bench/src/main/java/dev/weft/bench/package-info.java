/**
 * Benchmarks of Weft against its peers, side by side in the same run.
 *
 * <pre>
 *   Bench ──► suite    the comparisons: one class a comparison
 *     │         │
 *     ├─────► against  comparisons of this build with another commit's
 *     │         │
 *     ├─────► run      how it is measured: rounds of fresh JVMs
 *     │         │
 *     ├─────► report   the results: table, picture, JSON
 *     │         │
 *     └─────► im       the load on the messaging server, with attacks and killed nodes
 *               │
 *             model    contestants, metrics, bars, outcomes: all others use it
 * </pre>
 */
@NullMarked
package dev.weft.bench;

import org.jspecify.annotations.NullMarked;
