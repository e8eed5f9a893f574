import dev.weft.*;
import java.time.Duration;
import java.util.concurrent.TimeoutException;

/** Time limits nest, and the nearest deadline wins; a body that times out still cleans up. */
public class Timeouts {
  public static void main(String[] args) {
    Weft.run(
        () -> {
          try {
            Weft.withTimeout(
                Duration.ofMillis(20),
                () -> Weft.withTimeout(Duration.ofHours(1), Timeouts::waitForEver));
          } catch (TimeoutException e) {
            System.out.println("gave up: " + e.getMessage());
          }
        });
  }

  static String waitForEver() {
    try {
      Fiber.suspend();
      return "never";
    } finally {
      System.out.println("cleaned up");
    }
  }
}
