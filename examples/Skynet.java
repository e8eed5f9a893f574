import dev.weft.*;
import dev.weft.channel.*;

/** A tree of fibers, ten to a node: a million leaves send their numbers up, each node the sum. */
void main() {
  long sum = Weft.call(() -> {
    Channel<Long> result = Channel.rendezvous();
    Weft.go(() -> node(result, 0, 1_000_000));
    return result.receive();
  });
  IO.println(sum);
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
