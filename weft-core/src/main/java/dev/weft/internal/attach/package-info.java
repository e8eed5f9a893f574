/**
 * Answers other processes of the same user that look into this one: {@code ./weft dump}, {@code
 * top} and {@code leaks}. {@link dev.weft.internal.attach.Attach} is the entrance.
 */
package dev.weft.internal.attach;
