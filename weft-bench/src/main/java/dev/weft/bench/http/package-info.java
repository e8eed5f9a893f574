/**
 * Weft's web server and those that people use, with the same handlers and the same load.
 *
 * <pre>
 *   HttpPeerProbe ──► HttpPeerProcess ──► HttpPeerMain in a JVM of its own: an HttpPeer
 *        │                                                   ▲        │ ROUND_TRIP
 *        └── HttpPeerLoad, a loop over a selector ───────────┘        ▼
 *        └── HttpBackend, which sends bytes back ◄────────────────────┘
 * </pre>
 */
@NullMarked
package dev.weft.bench.http;

import org.jspecify.annotations.NullMarked;
