/**
 * Blocking calls: the fiber itself moves to a helper thread, runs the body there and comes back.
 *
 * <pre>
 *   Weft.blocking(body)  ─► BlockingCall.run ─► Helpers.submit ─► a helper, or the fair queue
 *   name look-up of the JDK ─► BlockingNames ─┘                         │
 *                                                                       ▼
 *   fiber:   parks as QUEUED ──── TAKEN ◄──────────────── helper: takes the call, unparks the fiber
 *                                   │ becomeReady ─► Detour.takes: to the helper, not to a worker
 *                                   ▼
 *            body, pinned to the helper (the same four steps as in Slice)
 *                                   │ OVER, yield
 *                                   ▼
 *            goes on at its worker
 * </pre>
 *
 * <p>Invariants: a queued call is taken by a helper or withdrawn by its fiber, never both; while it
 * is TAKEN only the helper runs the fiber; a helper waits for no worker. Helpers belong to no
 * scheduler, so a full pool of one scheduler's calls delays others but blocks no worker.
 */
package dev.weft.internal.blocking;
