import dev.weft.*;

/** A hundred thousand fibers add up a million numbers, ten each. */
void main() throws InterruptedException {
  List<Fiber<Long>> parts = new ArrayList<>();
  for (long from = 1; from <= 1_000_000; from += 10) {
    long first = from;
    parts.add(Weft.go(() -> sum(first, first + 9)));
  }
  long total = 0;
  for (Fiber<Long> part : parts) {
    total += part.join();
  }
  IO.println("1 + 2 + … + 1000000 = " + total);
}

long sum(long first, long last) {
  long sum = 0;
  for (long i = first; i <= last; i++) {
    sum += i;
  }
  return sum;
}
