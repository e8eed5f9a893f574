import dev.weft.*;

void main() {
  var greeting = Coroutine.of(() -> {
    IO.println("Hello,");
    Coroutine.yield(); // back to main, until main resumes this coroutine again
    IO.println("Weft!");
  });
  greeting.resume();
  IO.println("(and, when main is ready)");
  greeting.resume();
}
