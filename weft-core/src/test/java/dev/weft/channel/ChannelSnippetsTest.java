package dev.weft.channel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Weft;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
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
                try (words) { // closes it in the end, which ends the loop below
                  for (String word : List.of("warp", "and", "weft")) {
                    words.send(word); // waits while two are there that nobody has taken
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
    println(what); // prints serve tea: nobody receives from the log
    // @end
    assertThat(out).containsExactly("serve tea");
  }
}
