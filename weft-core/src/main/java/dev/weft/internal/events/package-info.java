/**
 * What a worker and a fiber record about themselves while somebody looks.
 *
 * <pre>
 *   Slice, Worker, Mounting ──► FlightEvents ──► jdk.jfr, if the module and a recording are there
 *   Worker.lane, while a console is connected ──► Lane ──► the console's lane view
 * </pre>
 *
 * <p>Invariants: without a recording and without a console each call site costs one field read. The
 * thread that an event is about commits the event. Nothing here throws to its caller, which has a
 * fiber in hand: the first failure ends all recording.
 */
package dev.weft.internal.events;
