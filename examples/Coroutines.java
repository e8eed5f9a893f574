import dev.weft.*;

/** A coroutine runs when main resumes it, and keeps its place in between. */
void main() {
  Coroutine greeting = Coroutine.of(() -> {
    IO.println("Hello,");
    Coroutine.yield(); // back to main, until main resumes this coroutine again
    IO.println("Weft!");
  });
  greeting.resume();
  IO.println("(and, when main is ready)");
  greeting.resume();
}
