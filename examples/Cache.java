import dev.weft.*;
import dev.weft.sync.*;

/** A cache that many fibers read at a time; a writer has it alone. */
static final class Prices {
  private final Map<String, Integer> prices = new HashMap<>();
  private final SharedMutex mutex = new SharedMutex();

  int read(String item, Barrier together) throws InterruptedException {
    mutex.readLock().lock();
    try {
      together.await(); // passes only if three readers are in here
      return prices.get(item);
    } finally {
      mutex.readLock().unlock();
    }
  }

  void write(String item, int price) {
    mutex.writeLock().lock();
    try {
      prices.put(item, price);
    } finally {
      mutex.writeLock().unlock();
    }
  }
}

void main() {
  Prices prices = new Prices();
  prices.write("soup", 7);
  Barrier together = new Barrier(3);
  var joiner = Scope.Joiner.<Integer>allSuccessfulOrThrow();
  try (Scope readers = Scope.open(joiner, Duration.ofSeconds(10))) {
    for (int i = 0; i < 3; i++) {
      readers.go(() -> prices.read("soup", together));
    }
    readers.join();
  }
  IO.println("three readers at the same time: " + joiner.result());
  prices.write("soup", 8);
  IO.println("then a writer: " + prices.prices);
}
