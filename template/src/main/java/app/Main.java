package app;

import dev.weft.Fiber;
import dev.weft.Weft;
import java.time.Duration;
import java.util.List;

/** Cooks three dishes at the same time: the meal takes as long as the slowest dish. */
public final class Main {
  private Main() {}

  public static void main(String[] args) {
    Weft.run(
        () -> {
          for (String dish : cook(List.of("soup", "fish", "cake"))) {
            System.out.println(dish + " is served");
          }
        });
  }

  /** Cooks each dish in a fiber of its own. */
  static List<String> cook(List<String> dishes) {
    List<Fiber<String>> fibers =
        dishes.stream()
            .map(
                dish ->
                    Weft.go(
                        () -> {
                          Fiber.sleep(Duration.ofMillis(100)); // blocks this fiber, no thread
                          return "hot " + dish;
                        }))
            .toList();
    return fibers.stream().map(Fiber::join).toList();
  }
}
