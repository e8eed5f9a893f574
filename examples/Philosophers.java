import dev.weft.Fiber;
import dev.weft.Scope;
import dev.weft.Weft;
import dev.weft.sync.Mutex;
import java.util.ArrayList;
import java.util.List;

/** Five philosophers share five forks; each takes the lower-numbered fork first, so none starves. */
public class Philosophers {
  private static final int SEATS = 5;
  private static final int MEALS = 1_000;

  public static void main(String[] args) {
    Weft.run(
        () -> {
          List<Mutex> forks = new ArrayList<>();
          for (int i = 0; i < SEATS; i++) {
            forks.add(new Mutex());
          }
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
            System.out.println("philosopher " + i + " has eaten " + meals[i] + " times");
          }
        });
  }

  private static void dine(Mutex first, Mutex second, int[] meals, int seat) {
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
}
