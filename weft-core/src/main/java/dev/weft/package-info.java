/**
 * Coroutines that you resume by hand.
 *
 * <pre>
 *            resume()
 *   caller ───────────► coroutine      READY ──resume──► RUNNING ──end──► TERMINATED
 *          ◄───────────                  ▲                  │                  │
 *         yield() or end                 └──────yield───────┘                  │
 *                                        └───────────────reset─────────────────┘
 * </pre>
 */
package dev.weft;
