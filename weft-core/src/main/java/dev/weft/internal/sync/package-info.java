/** What the locks of {@code dev.weft.sync} share, apart from the wait queue. */
package dev.weft.internal.sync;
