/**
 * Answers other processes of the same user that look into this one: {@code ./weft dump}, {@code
 * top} and {@code leaks}.
 *
 * <pre>
 *   Attach ──► AttachFolder                   sees the folder of the process that asks, checks it
 *      │
 *      └─────► Connection ──► Answers         a platform thread for each; requests and chunks
 *                               ├──► Dumps, LeakCheck     of internal.watch
 *                               └──► LiveFigures ──► Sampler   which fiber runs, by samples
 * </pre>
 */
package dev.weft.internal.attach;
