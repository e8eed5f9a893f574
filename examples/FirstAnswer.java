import dev.weft.*;

/** Asks three mirrors at once and takes the first answer; the scope cancels the others. */
void main() {
  var first = Scope.Joiner.<String>anySuccessfulResultOrThrow();
  try (Scope mirrors = Scope.open(first, Duration.ofSeconds(10))) {
    mirrors.go(() -> fetch("far", Duration.ofHours(1)));
    mirrors.go(() -> fetch("near", Duration.ofMillis(20)));
    mirrors.go(() -> fail("down"));
    mirrors.join();
  } // no fiber is left here
  IO.println("answer: " + first.result());
}

String fetch(String mirror, Duration latency) throws InterruptedException {
  try {
    Fiber.sleep(latency);
    return "from the " + mirror + " mirror";
  } catch (InterruptedException e) {
    IO.println("the " + mirror + " mirror is not needed any more");
    throw e;
  }
}

String fail(String mirror) throws IOException {
  throw new IOException("the mirror is " + mirror); // counts only if no other answers
}
