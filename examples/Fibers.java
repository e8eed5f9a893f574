import dev.weft.*;

/** Three fibers cook at the same time; the meal takes as long as the slowest. */
void main() throws InterruptedException {
  List<Fiber<String>> dishes = List.of(cook("soup", 30), cook("fish", 50), cook("cake", 10));
  for (Fiber<String> dish : dishes) {
    IO.println(dish.join() + " is served");
  }
}

Fiber<String> cook(String dish, int millis) {
  return Weft.go(() -> {
    Fiber.sleep(Duration.ofMillis(millis));
    return dish;
  });
}
