import dev.weft.*;
import dev.weft.sync.*;

static final int SEATS = 5;
static final int MEALS = 1_000;

/** Five philosophers share five forks; each takes the lower-numbered fork first, so no circle of waiters can form. */
void main() {
  List<Mutex> forks = Stream.generate(Mutex::new).limit(SEATS).toList();
  int[] meals = new int[SEATS];
  try (Scope table = Scope.open()) {
    for (int i = 0; i < SEATS; i++) {
      int seat = i;
      Mutex first = forks.get(Math.min(seat, (seat + 1) % SEATS));
      Mutex second = forks.get(Math.max(seat, (seat + 1) % SEATS));
      table.go(() -> dine(first, second, meals, seat));
    }
    table.join();
  }
  for (int i = 0; i < SEATS; i++) {
    IO.println("philosopher " + i + " has eaten " + meals[i] + " times");
  }
}

void dine(Mutex first, Mutex second, int[] meals, int seat) {
  for (int i = 0; i < MEALS; i++) {
    first.lock();
    try {
      Fiber.yield(); // long enough for a neighbour to want the same fork
      second.lock();
      try {
        meals[seat]++;
      } finally {
        second.unlock();
      }
    } finally {
      first.unlock();
    }
  }
}
