/**
 * Channels, over which fibers and threads hand values to each other, and select, which takes the
 * first of several hand-overs that can be had.
 *
 * <pre>
 *   send ──►  rendezvous      ──► receive     each send meets a receive
 *   send ──►  [ a  b  c  · ]  ──► receive     buffered: sends wait when it is full
 *   send ──►  [ a  b  c …     ──► receive     unlimited: sends never wait
 *
 *   a ──►┐
 *   b ──►┤ select ──► one of them, and nothing happens to the others
 *   c ◄──┘
 * </pre>
 */
package dev.weft.channel;
