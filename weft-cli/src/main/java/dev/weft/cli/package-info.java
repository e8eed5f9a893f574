/**
 * The JVM side of {@code ./weft run}, from the command line to the program's {@code main}, and of
 * {@code ./weft echo}.
 *
 * <pre>
 *   arguments ──► RunOptions ──► Program ──────────► Launcher ──► main(args)
 *                                   ▲ compiles
 *                               SourceFile
 * </pre>
 */
@NullMarked
package dev.weft.cli;

import org.jspecify.annotations.NullMarked;
