package app;

import dev.weft.Fiber;
import dev.weft.Weft;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Cooks three dishes at the same time: the meal takes as long as the slowest dish. */
public final class Main {
  private Main() {}

  public static void main(String[] args) {
    Weft.run(
        () -> {
          for (String dish : serve(List.of("soup", "fish", "cake"))) {
            System.out.println(dish + " is served");
          }
        });
  }

  /** Cooks each dish in a fiber of its own. */
  static List<String> serve(List<String> menu) throws InterruptedException {
    List<Fiber<String>> cooks = new ArrayList<>();
    for (String dish : menu) {
      cooks.add(Weft.go(() -> cook(dish)));
    }
    List<String> dishes = new ArrayList<>();
    for (Fiber<String> cook : cooks) {
      dishes.add(cook.join());
    }
    return dishes;
  }

  private static String cook(String dish) throws InterruptedException {
    Fiber.sleep(Duration.ofMillis(100)); // this fiber waits; its thread runs others meanwhile
    return "hot " + dish;
  }
}
