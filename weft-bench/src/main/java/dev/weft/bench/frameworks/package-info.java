/**
 * Programs on web frameworks, unmodified, under {@code java -jar} and under {@code ./weft run}.
 *
 * <pre>
 *   FrameworksBenchmark ──► FrameworkProbe ──► FrameworkJar       examples/frameworks/X.java as a jar
 *                                 ├──────────► FrameworkProcess   java -jar, or ./weft run
 *                                 ├──────────► AskedService       what the handler of /call asks
 *                                 └──────────► HttpPeerLoad       the load, as for web servers
 * </pre>
 */
@NullMarked
package dev.weft.bench.frameworks;

import org.jspecify.annotations.NullMarked;
