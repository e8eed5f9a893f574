/**
 * Sockets in blocking style: the fiber waits, no thread does.
 *
 * <pre>
 *   fiber ── read() ──► try recv ──► bytes          one system call if something is there
 *                          │ nothing there
 *                          ▼
 *                       waits ◄──── ready ──── the poller of its worker
 * </pre>
 */
package dev.weft.net;
