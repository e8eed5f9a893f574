/**
 * An instant-messaging server on fibers.
 *
 * <pre>
 *   LineEndpoint ─┐                     SAY, TELL
 *   WebEndpoint ──┴─► Wire ──► Session ───────────► Journal ──► Store     one transaction for all
 *                       ▲         │ LOGIN              │          │       that wait; ids in the
 *                       │         ▼                    │ hint     │       order of commits
 *                       │      Presence                ▼          ▼
 *                       │       │    ▲               Feed ◄── reads all after its position
 *                       │       ▼    │                 │  ▲
 *                     Outbox ◄─ Hub ◄┼─────────────────┘  │ hint
 *                                    └────── Bus ─────────┘   (Redis: other nodes)
 * </pre>
 *
 * <p>A message goes from its sender to its recipients by way of the store alone: what a node hears
 * of another is but a hint to look there. So the order is the same for all, and a hint that is lost
 * costs time, never a message.
 */
@NullMarked
package dev.weft.im;

import org.jspecify.annotations.NullMarked;
