import dev.weft.*;

/** Each coroutine of a ring transfers control straight to the next, not back to main. */
void main() {
  String[] names = {"Ada", "Grace", "Barbara"};
  var ring = new Coroutine[names.length];
  for (int i = 0; i < ring.length; i++) {
    int me = i;
    ring[me] = Coroutine.of(() -> {
      for (int lap = 1; lap <= 3; lap++) {
        IO.println("lap " + lap + ": " + names[me]);
        Coroutine.transferTo(ring[(me + 1) % ring.length]);
      }
    });
  }
  ring[0].resume();
  IO.println("the first one has ended: control is back in main");
}
