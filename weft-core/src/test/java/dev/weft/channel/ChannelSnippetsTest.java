package dev.weft.channel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Weft;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The snippets of the Javadoc of channels: compiled, run and checked here. */
class ChannelSnippetsTest {
  private final List<Object> out = Collections.synchronizedList(new ArrayList<>());

  private void println(Object line) {
    out.add(line);
  }

  @Test
  void producerAndConsumer() {
    // @start region="producer-and-consumer"
    Weft.run(
        () -> {
          Channel<String> words = Channel.buffered(2);
          Weft.go(
              () -> {
                try (words) { // closes the channel, which ends the loop below
                  for (String word : List.of("warp", "and", "weft")) {
                    words.send(word); // waits while the buffer holds two values
                  }
                }
              });
          for (String word : words) {
            println(word);
          }
        });
    // @end
    assertThat(out).containsExactly("warp", "and", "weft");
  }

  @Test
  void select() throws Exception {
    Channel<String> orders = Channel.buffered(1);
    Channel<String> log = Channel.rendezvous();
    orders.send("tea");
    // @start region="select"
    String what =
        Select.of(
            orders.onReceive(order -> "serve " + order),
            log.onSend("nothing to do", () -> "logged"),
            Select.timeout(Duration.ofSeconds(5), () -> "closing time"));
    println(what); // prints serve tea: no fiber receives from the log
    // @end
    assertThat(out).containsExactly("serve tea");
  }

  @Test
  void receiveOrClosed() throws Exception {
    Channel<String> words = Channel.buffered(2);
    words.send("warp");
    words.send("weft");
    words.close();
    // @start region="receive-or-closed"
    Optional<String> word = words.receiveOrClosed();
    while (word.isPresent()) {
      println(word.get());
      word = words.receiveOrClosed();
    }
    println("the end");
    // @end
    assertThat(out).containsExactly("warp", "weft", "the end");
  }

  @Test
  void merge() throws Exception {
    Channel<String> left = Channel.unlimited();
    Channel<String> right = Channel.unlimited();
    left.send("warp");
    left.close();
    right.send("weft");
    right.send("loom");
    right.close();
    // @start region="merge"
    List<String> all = new ArrayList<>();
    List<Channel<String>> open = new ArrayList<>(List.of(left, right));
    while (!open.isEmpty()) { // until both are closed and empty
      Select.of(
          open.stream().map(each -> each.onReceive(all::add, () -> open.remove(each))).toList());
    }
    // @end
    assertThat(all).containsExactlyInAnyOrder("warp", "weft", "loom");
  }

  @Test
  void when() throws Exception {
    Channel<String> orders = Channel.unlimited();
    Channel<String> ready = Channel.unlimited();
    orders.send("tea");
    ready.send("cake");
    int inWork = 2;
    // @start region="when"
    String what =
        Select.of(
            Select.when(inWork < 2, orders.onReceive(order -> "begin " + order)),
            ready.onReceive(order -> "serve " + order));
    println(what); // prints serve cake: with two orders in work none is received
    // @end
    assertThat(out).containsExactly("serve cake");
    assertThat(orders.size()).isEqualTo(1);
  }
}
