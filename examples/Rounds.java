import dev.weft.*;
import dev.weft.channel.*;
import dev.weft.sync.*;

/** Waits for jobs, not for fibers: the workers live on, and the group counts the jobs that are left. */
void main() throws InterruptedException {
  Channel<Integer> jobs = Channel.unlimited();
  WaitGroup left = new WaitGroup();
  var sum = new LongAdder();
  for (int worker = 0; worker < 3; worker++) {
    Weft.go(() -> {
      for (int job : jobs) {
        sum.add(job);
        left.done();
      }
    });
  }
  for (int round = 1; round <= 3; round++) {
    left.add(100);
    for (int job = 1; job <= 100; job++) {
      jobs.send(job);
    }
    left.await();
    IO.println("round " + round + ": " + sum.sumThenReset());
  }
  jobs.close(); // ends the workers' loops
}
