import dev.weft.*;
import java.time.Duration;
import java.util.concurrent.TimeoutException;

/** Limits on time nest, and the nearest wins; what is cut short still cleans up. */
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
