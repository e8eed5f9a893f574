/**
 * Benchmarks of Weft against its peers, side by side in the same run.
 *
 * <pre>
 *   Bench ──► suite    what is compared: one class a comparison
 *     │         │
 *     ├─────► run      how it is measured: rounds of fresh JVMs
 *     │         │
 *     └─────► report   what comes out: table, picture, JSON
 *               │
 *             model    the words all of them speak
 * </pre>
 */
@NullMarked
package dev.weft.bench;

import org.jspecify.annotations.NullMarked;
