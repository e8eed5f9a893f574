import dev.weft.*;
import dev.weft.channel.*;

/**
 * A tree of fibers, ten to a node: a million leaves send their numbers up, each node sends the sum.
 * Work stealing runs the tree depth-first, so few fibers are live at a time.
 */
void main() throws InterruptedException {
  Channel<Long> result = Channel.buffered(1);
  try (Scheduler scheduler = Scheduler.builder().policy(Policy.workStealing()).build().start()) {
    scheduler.go(() -> node(result, 0, 1_000_000));
    IO.println(result.receive());
  }
}

void node(Channel<Long> parent, long first, int leaves) throws InterruptedException {
  if (leaves == 1) {
    parent.send(first);
    return;
  }
  Channel<Long> sums = Channel.rendezvous();
  int share = leaves / 10;
  for (int i = 0; i < 10; i++) {
    long start = first + (long) i * share;
    Weft.go(() -> node(sums, start, share));
  }
  long sum = 0;
  for (int i = 0; i < 10; i++) {
    sum += sums.receive();
  }
  parent.send(sum);
}
