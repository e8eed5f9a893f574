/**
 * Other people's blocking code on fibers: drivers, pools, HTTP clients and the JDK's own sockets,
 * unmodified, against real servers, 200 fibers at once on a scheduler with one thread.
 *
 * <p>That no thread is blocked is shown without a clock wherever the server can be held back:
 *
 * <pre>{@code
 * 200 fibers ask ──▶ the server has all 200 questions ──▶ the heart goes on beating ──▶ the server answers
 *                    (one that blocked the thread          (a fiber that sleeps
 *                     would keep back the others)           on the same thread)
 * }</pre>
 */
@NullMarked
package dev.weft.proof;

import org.jspecify.annotations.NullMarked;
