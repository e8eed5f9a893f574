import dev.weft.*;

/** Time limits nest, and the nearest deadline wins; a body that times out still cleans up. */
void main() {
  try {
    Weft.withTimeout(Duration.ofMillis(20), () ->
        Weft.withTimeout(Duration.ofHours(1), () -> sleepForDays()));
  } catch (TimeoutException e) {
    IO.println("gave up: " + e.getMessage());
  }
}

void sleepForDays() throws InterruptedException {
  try {
    Fiber.sleep(Duration.ofDays(30));
  } finally {
    IO.println("cleaned up");
  }
}
