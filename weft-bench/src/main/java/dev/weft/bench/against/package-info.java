/**
 * {@code ./weft bench --against REF}: this build of Weft against another commit's, in turns.
 *
 * <pre>
 *   OtherCommit    exports REF to target/against, builds its weft-core and weft-http with Maven
 *   LinkCheck      does this commit's benchmark code link with that build? what does that lack?
 *   Recompiled     if it does not link: this commit's sources, compiled against that build
 *   Against        a benchmark's contestants of Weft → a comparison of two contestants, this and
 *                  that, which Rounds and the reports treat as any other
 * </pre>
 *
 * <p>Both sides run this commit's benchmark code, so a difference between them is one of the
 * library. Building the other commit's own benchmarks was refused: a benchmark that was changed
 * since would show as a change of Weft.
 */
@NullMarked
package dev.weft.bench.against;

import org.jspecify.annotations.NullMarked;
