import dev.weft.*;

void main() {
  Coroutine hello =
      Coroutine.of(
          () -> {
            IO.println("Hello");
            Coroutine.yield();
            IO.println("again");
          });
  hello.resume();
  IO.println("… and");
  hello.resume();
}
