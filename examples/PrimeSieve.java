import dev.weft.*;
import dev.weft.channel.*;

/** The sieve of Go's tutorial: a chain of fibers, each passes on the numbers that its prime does not divide. */
void main() throws InterruptedException {
  List<Fiber<?>> chain = new ArrayList<>();
  Channel<Integer> numbers = Channel.rendezvous();
  Channel<Integer> all = numbers;
  chain.add(Weft.go(() -> {
    for (int i = 2; ; i++) {
      all.send(i);
    }
  }));
  List<Integer> primes = new ArrayList<>();
  while (primes.size() < 25) {
    int prime = numbers.receive();
    primes.add(prime);
    Channel<Integer> from = numbers;
    Channel<Integer> to = Channel.rendezvous();
    chain.add(Weft.go(() -> {
      for (int number : from) {
        if (number % prime != 0) {
          to.send(number);
        }
      }
    }));
    numbers = to;
  }
  IO.println(primes);
  chain.forEach(Fiber::cancel); // each fiber ends at its wait
}
