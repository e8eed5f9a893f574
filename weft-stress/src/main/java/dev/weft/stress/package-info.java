/**
 * Programs that look for races for a given time or amount: {@link dev.weft.stress.Stress} runs
 * them, the tests of this module run short forms of them.
 */
@NullMarked
package dev.weft.stress;

import org.jspecify.annotations.NullMarked;
