import dev.weft.*;

/** Two fibers wait side by side: the sentence takes 20 ms, not 30. */
void main() throws InterruptedException {
  Fiber<String> name = Weft.go(() -> say("Weft!", 20));
  Fiber<String> greeting = Weft.go(() -> say("Hello,", 10));
  IO.println(greeting.join() + " " + name.join());
}

String say(String word, int millis) throws InterruptedException {
  Fiber.sleep(Duration.ofMillis(millis)); // this fiber waits; its thread runs others meanwhile
  return word;
}
