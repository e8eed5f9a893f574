import dev.weft.*;
import dev.weft.channel.*;

/** One fiber receives from two others and notices when both are silent. */
void main() throws InterruptedException {
  Channel<String> ann = speaker("Ann", Duration.ofMillis(3));
  Channel<String> joe = speaker("Joe", Duration.ofMillis(5));
  List<String> heard = new ArrayList<>();
  while (heard.size() < 6) {
    heard.add(Select.of(
        ann.onReceive(word -> word),
        joe.onReceive(word -> word),
        Select.timeout(Duration.ofSeconds(30), () -> "silence")));
  }
  Collections.sort(heard); // the order of the two senders depends on the clock
  heard.forEach(IO::println);
  IO.println(Select.<String>of(
      ann.onReceive(word -> word),
      joe.onReceive(word -> word),
      Select.timeout(Duration.ofMillis(20), () -> "both are silent")));
}

Channel<String> speaker(String name, Duration pause) {
  Channel<String> words = Channel.rendezvous();
  Weft.go(() -> {
    for (int i = 1; i <= 3; i++) {
      Fiber.sleep(pause);
      words.send(name + " " + i);
    }
  });
  return words;
}
