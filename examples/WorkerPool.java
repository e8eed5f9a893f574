import dev.weft.*;
import dev.weft.channel.*;

/** Three worker fibers share a small buffer of jobs: the producer waits while they are busy. */
void main() throws InterruptedException {
  Channel<Integer> jobs = Channel.buffered(4);
  Channel<Long> results = Channel.rendezvous();
  var ahead = new AtomicInteger();
  var mostAhead = new AtomicInteger();

  Weft.go(() -> {
    try (jobs) { // the close ends the workers' loops
      for (int job = 1; job <= 1_000; job++) {
        jobs.send(job);
        mostAhead.accumulateAndGet(ahead.incrementAndGet(), Math::max);
      }
    }
  });
  for (int worker = 0; worker < 3; worker++) {
    Weft.go(() -> {
      for (int job : jobs) {
        results.send((long) job * job);
      }
    });
  }

  long sum = 0;
  for (int i = 0; i < 1_000; i++) {
    sum += results.receive();
    ahead.decrementAndGet();
  }
  IO.println("sum of squares: " + sum);
  IO.println("back-pressure: " + (mostAhead.get() <= 4 + 3 + 2 ? "kept" : "lost, " + mostAhead));
}
