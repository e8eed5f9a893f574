/**
 * Third-party blocking code on fibers: drivers, pools, HTTP clients and the JDK's own sockets,
 * unmodified, against real servers, 200 fibers at once on a scheduler with one thread.
 *
 * <p>Wherever the server can hold its answers back, the proof that no thread is blocked needs no
 * clock:
 *
 * <pre>{@code
 * 200 fibers ask ──▶ the server has all 200 questions ──▶ the heart goes on beating ──▶ the server answers
 *                    (a call that blocked the              (a fiber that sleeps
 *                     thread would stop them)               on the same thread)
 * }</pre>
 */
@NullMarked
package dev.weft.proof;

import org.jspecify.annotations.NullMarked;
