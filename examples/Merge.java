import dev.weft.*;
import dev.weft.channel.*;

/** Receives from two channels until both are closed; no value is lost, whichever channel ends first. */
void main() throws InterruptedException {
  Channel<String> colours = channelOf("red", "green");
  Channel<String> numbers = channelOf("one", "two", "three", "four");
  List<String> received = new ArrayList<>();
  List<Channel<String>> open = new ArrayList<>(List.of(colours, numbers));
  while (!open.isEmpty()) {
    Select.of(open.stream()
        .map(channel -> channel.onReceive(
            word -> received.add(word),
            () -> open.remove(channel))) // closed, and no value left in it
        .toList());
  }
  Collections.sort(received); // select chooses among ready channels at random
  IO.println(received);
  IO.println("then " + colours.receiveOrClosed() + " and " + numbers.receiveOrClosed());
}

Channel<String> channelOf(String... words) {
  Channel<String> channel = Channel.buffered(2);
  Weft.go(() -> {
    try (channel) {
      for (String word : words) {
        channel.send(word);
      }
    }
  });
  return channel;
}
