package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The snippets of the Javadoc and the README: compiled, run and checked here. */
class CoroutineSnippetsTest {
  private final List<Object> out = new ArrayList<>();

  private void println(Object line) {
    out.add(line);
  }

  @Test
  void resumeAndYield() {
    // @start region="resume-and-yield"
    Coroutine greeter =
        Coroutine.of(
            () -> {
              println("hello");
              Coroutine.yield();
              println("again");
            });
    greeter.resume(); // prints hello
    greeter.resume(); // prints again
    // @end
    assertThat(out).containsExactly("hello", "again");
  }

  @Test
  void local() {
    // @start region="local"
    CoroutineLocal<StringBuilder> line = CoroutineLocal.withInitial(StringBuilder::new);
    Coroutine writer =
        Coroutine.of(
            () -> {
              line.get().append("left");
              Coroutine.yield();
              println(line.get().append(" right"));
            });
    // @end
    writer.resume();
    line.get().append("not the writer's");
    writer.resume();
    assertThat(out.toString()).isEqualTo("[left right]");
  }

  @Test
  void generator() {
    // @start region="generator"
    Generator<Long> fibonacci =
        Generator.of(
            sequence -> {
              long a = 0;
              long b = 1;
              while (true) {
                sequence.emit(a);
                long next = a + b;
                a = b;
                b = next;
              }
            });
    fibonacci.stream().limit(8).forEach(this::println); // 0 1 1 2 3 5 8 13
    // @end
    assertThat(out).containsExactly(0L, 1L, 1L, 2L, 3L, 5L, 8L, 13L);
  }
}
