/**
 * Connects the layers once, before the first scheduler is built: the top of the packages, which may
 * use all of them.
 *
 * <pre>
 *   the initializer of Scheduler ─► Wiring.connect
 *     ├─ Surroundings.set         what internal.sched asks of the packages above it
 *     ├─ JdkPollers.begin         a plain thread: the JDK's pollers, then Mounting.check and the hook
 *     ├─ ProcessEnd.prepare       wakes sleeping threads when the process ends
 *     └─ Watchdog.atEachLook      the requests of ./weft dump, top, leaks
 *   the first scheduler started ─► ConsoleStarter, with -Dweft.console
 * </pre>
 *
 * <p>Invariant: no fiber runs before the plain thread has ended ({@code
 * Surroundings.awaitPreparation}), so no fiber meets a half-installed hook.
 */
package dev.weft.internal.start;
