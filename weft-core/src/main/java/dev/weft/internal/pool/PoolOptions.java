package dev.weft.internal.pool;

import dev.weft.FiberPool;
import dev.weft.Scheduler;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What the builder of a pool was told.
 *
 * @param scheduler the scheduler of the fibers, or null for that of the caller
 * @param fibers how many there are at most
 * @param growBy how many are made at a time
 * @param queue how many tasks can wait for a fiber
 * @param keepAlive after how long without a task a fiber ends
 */
public record PoolOptions(
    @Nullable Scheduler scheduler,
    String name,
    int fibers,
    int growBy,
    int queue,
    FiberPool.WhenFull whenFull,
    Duration keepAlive) {}
