/**
 * The machinery of channels and select.
 *
 * <pre>
 *   Channel ◄── ChannelBuffer ◄── ChannelCore     the values; the waiting senders and receivers
 *                                      ▲
 *   Select.Clause ◄── ChannelClause ───┘          a send or a receive that a select may do
 *                          ▲
 *                      Selection                  one select: does one of its clauses, or waits
 * </pre>
 */
package dev.weft.internal.channel;
