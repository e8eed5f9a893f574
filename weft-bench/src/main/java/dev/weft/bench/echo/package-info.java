/**
 * Echo servers, each in a process of its own, and the load that all of them get.
 *
 * <pre>
 *   ./weft bench ──► probe process                     server process
 *                    ┌──────────────┐   connections    ┌──────────────────┐
 *                    │ LoadLoop     │ ◄──────────────► │ an EchoServer    │
 *                    │ EchoProbe    │ ── stdin ──────► │ ServerMain       │
 *                    │ CpuClock ────┼── its CPU time ─►│                  │
 *                    └──────────────┘                  └──────────────────┘
 * </pre>
 *
 * <p>Nothing stays behind: a server ends when its input does, and so does a probe, however its
 * parent ended.
 */
@NullMarked
package dev.weft.bench.echo;

import org.jspecify.annotations.NullMarked;
