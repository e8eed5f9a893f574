package dev.weft.bench.im;

import java.time.Duration;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * What was measured while one thing went on.
 *
 * @param latency from saying to hearing, in nanoseconds
 * @param seconds the 99 % latency of each second, in milliseconds
 * @param residentBytes the most memory that the server's process had
 */
record Phase(
    String name,
    Duration length,
    long deliveries,
    Histogram latency,
    List<Double> seconds,
    double cpuMicrosPerDelivery,
    long residentBytes) {
  double perSecond() {
    return deliveries * 1e9 / length.toNanos();
  }

  double millis(double percentile) {
    return latency.getValueAtPercentile(percentile) / 1e6;
  }
}
