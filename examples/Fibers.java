import dev.weft.*;
import java.time.Duration;
import java.util.List;

/** Three fibers cook at the same time; the meal takes as long as the slowest. */
public class Fibers {
  public static void main(String[] args) {
    Weft.run(
        () -> {
          List<Fiber<String>> dishes =
              List.of(cook("soup", 30), cook("fish", 50), cook("cake", 10));
          for (Fiber<String> dish : dishes) {
            System.out.println(dish.join() + " is served");
          }
        });
  }

  static Fiber<String> cook(String dish, int millis) {
    return Weft.go(
        () -> {
          Fiber.sleep(Duration.ofMillis(millis));
          return dish;
        });
  }
}
