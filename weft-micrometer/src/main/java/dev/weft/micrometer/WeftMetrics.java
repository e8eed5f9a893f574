package dev.weft.micrometer;

import dev.weft.Scheduler;
import dev.weft.SchedulerStats;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.Objects;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The meters of one scheduler. Every meter has the tag {@code scheduler}, the scheduler's name; the
 * meters of a thread have the tag {@code thread}, its index, too.
 *
 * {@snippet class="dev.weft.micrometer.WeftMetricsTest" region="bind"}
 *
 * <p>A publication costs one look at the scheduler, however many meters there are: values that are
 * read within 100 ms come from the same look. {@code docs/instruments.md} lists the meters.
 */
public final class WeftMetrics implements MeterBinder {
  private final Scheduler scheduler;

  private WeftMetrics(Scheduler scheduler) {
    this.scheduler = scheduler;
  }

  /** Returns the meters of a scheduler, to be bound to a registry. */
  public static WeftMetrics of(Scheduler scheduler) {
    return new WeftMetrics(Objects.requireNonNull(scheduler, "scheduler"));
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    Look look = new Look(scheduler);
    Meters meters = new Meters(registry, look, Tags.of("scheduler", scheduler.name()));
    meters.counter("weft.fibers.begun", "fibers begun", SchedulerStats::begun);
    meters.counter("weft.fibers.ended", "fibers that have ended", SchedulerStats::ended);
    meters.fibers("ready", SchedulerStats::ready);
    meters.fibers("running", SchedulerStats::running);
    meters.fibers("sleeping", SchedulerStats::sleeping);
    meters.fibers("waiting", SchedulerStats::waiting);
    meters.fibers("blocking", SchedulerStats::blocking);
    meters.fibers("awaiting-helper", SchedulerStats::awaitingHelper);
    meters.gauge("weft.fibers.apart", "live fibers that compute apart", SchedulerStats::apart);
    for (int i = 0; i < scheduler.threads(); i++) {
      int index = i;
      Meters ofThread = meters.with("thread", String.valueOf(i));
      ofThread.counter("weft.switches", "slices run", s -> s.threads().get(index).switches());
      ofThread.counter(
          "weft.steals", "fibers taken from other threads", s -> s.threads().get(index).stolen());
      ofThread.counter(
          "weft.sleeps", "times the thread went to sleep", s -> s.threads().get(index).sleeps());
      ofThread.counter(
          "weft.rescues", "lost wake-ups repaired", s -> s.threads().get(index).rescues());
      ofThread.gauge(
          "weft.ready", "fibers in queue and inbox", s -> s.threads().get(index).ready());
      ofThread.gauge("weft.timers", "timers set", s -> s.threads().get(index).timers());
    }
  }

  /** Registers meters with the same tags. */
  private record Meters(MeterRegistry registry, Look look, Tags tags) {
    Meters with(String key, String value) {
      return new Meters(registry, look, tags.and(key, value));
    }

    void counter(String name, String description, ToDoubleFunction<SchedulerStats> value) {
      FunctionCounter.builder(name, look.scheduler, _ -> value.applyAsDouble(look.stats()))
          .description(description)
          .tags(tags)
          .register(registry);
    }

    void gauge(String name, String description, ToDoubleFunction<SchedulerStats> value) {
      Gauge.builder(name, look.scheduler, _ -> value.applyAsDouble(look.stats()))
          .description(description)
          .tags(tags)
          .register(registry);
    }

    void fibers(String state, ToDoubleFunction<SchedulerStats> value) {
      with("state", state).gauge("weft.fibers", "live fibers by state", value);
    }
  }

  /** The latest numbers of a scheduler, taken anew when they are old. */
  private static final class Look {
    private static final long FRESH_NANOS = 100_000_000;

    final Scheduler scheduler;
    private @Nullable SchedulerStats last;
    private long takenAt;

    Look(Scheduler scheduler) {
      this.scheduler = scheduler;
    }

    synchronized SchedulerStats stats() {
      SchedulerStats known = last;
      if (known == null || System.nanoTime() - takenAt > FRESH_NANOS) {
        known = scheduler.stats();
        last = known;
        takenAt = System.nanoTime();
      }
      return known;
    }
  }
}
