import dev.weft.Scheduler;
import dev.weft.Scope;
import dev.weft.Weft;
import dev.weft.sync.Semaphore;
import dev.weft.time.Timer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** Limits the number of calls in each period: a timer releases the permits again. */
public class RateLimiter {
  private static final int PER_PERIOD = 5;
  private static final int CALLS = 20;
  private static final Duration PERIOD = Duration.ofMillis(20);

  public static void main(String[] args) {
    Weft.run(
        () -> {
          long start = System.nanoTime();
          Semaphore permits = new Semaphore(PER_PERIOD);
          Timer refill =
              Scheduler.current()
                  .orElseThrow()
                  .timers()
                  .every(PERIOD, () -> permits.release(PER_PERIOD - permits.availablePermits()));
          AtomicInteger called = new AtomicInteger();
          try (Scope callers = Scope.open()) {
            for (int i = 0; i < CALLS; i++) {
              callers.go(
                  () -> {
                    permits.acquire(); // fair: FIFO
                    called.incrementAndGet();
                  });
            }
            callers.join();
          }
          refill.cancel();
          Duration took = Duration.ofNanos(System.nanoTime() - start);
          System.out.println(called + " calls");
          boolean limited = took.compareTo(PERIOD.multipliedBy(3)) >= 0;
          System.out.println("in three periods or more: " + limited);
        });
  }
}
