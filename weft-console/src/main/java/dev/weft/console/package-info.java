/**
 * The web console: a page that shows what the schedulers of this process do, while they do it.
 *
 * <pre>
 *   browser ◄── page, script ─── ConsoleHandler    checks token, host, origin
 *           ◄── WebSocket ────── Viewer            one for each open page
 *                                  ▲ a message a second
 *                                Collector         runs only while a page is open
 *                                  │ FiberLooks, Lane: of the core
 *                                  ▼
 *                                schedulers of the program
 * </pre>
 *
 * <p>The console has a scheduler of its own with one thread, so that it answers although all others
 * are stuck. Nothing is collected while no page is open: the lanes of the workers are switched off.
 */
package dev.weft.console;
