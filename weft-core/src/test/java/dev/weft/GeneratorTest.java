package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.testkit.Feature;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Lazy sequences. */
@Feature("C14")
class GeneratorTest {
  private final List<String> order = new ArrayList<>();

  private static Generator<Integer> naturals() {
    return Generator.of(
        out -> {
          for (int i = 0; ; i++) {
            out.emit(i);
          }
        });
  }

  @Test
  void iteratesOverTheEmittedElements() {
    List<String> walked = new ArrayList<>();
    for (String word : Generator.<String>of(out -> List.of("a", "b", "c").forEach(out::emit))) {
      walked.add(word);
    }
    assertThat(walked).containsExactly("a", "b", "c");
  }

  @Test
  void runsOnlyAsFarAsTheConsumerAsks() {
    Generator<String> generator =
        Generator.of(
            out -> {
              order.add("start");
              out.emit("x");
              order.add("end");
            });
    assertThat(order).isEmpty();
    assertThat(generator.hasNext()).isTrue();
    assertThat(generator.hasNext()).isTrue();
    assertThat(order).containsExactly("start");
    assertThat(generator.next()).isEqualTo("x");
    assertThat(order).containsExactly("start");
    assertThat(generator.hasNext()).isFalse();
    assertThat(order).containsExactly("start", "end");
  }

  @Test
  void anEndlessGeneratorIsAStreamThatClosesEarly() {
    Generator<Integer> generator =
        Generator.of(
            out -> {
              try {
                for (int i = 0; ; i++) {
                  out.emit(i);
                }
              } finally {
                order.add("closed");
              }
            });
    try (Stream<Integer> stream = generator.stream()) {
      assertThat(stream.filter(i -> i % 2 == 1).limit(3)).containsExactly(1, 3, 5);
    }
    assertThat(order).containsExactly("closed");
    assertThat(generator.hasNext()).isFalse();
  }

  @Test
  void closingBeforeTheStartRunsNothing() {
    Generator<Integer> generator =
        Generator.of(
            out -> {
              order.add("ran");
              out.emit(1);
            });
    generator.close();
    assertThat(generator.hasNext()).isFalse();
    assertThat(order).isEmpty();
  }

  @Test
  void anElementEmittedAndNotTakenIsGoneAfterClose() {
    Generator<Integer> generator = naturals();
    assertThat(generator.hasNext()).isTrue();
    generator.close();
    assertThatThrownBy(generator::next).isInstanceOf(NoSuchElementException.class);
  }

  @Test
  void elementsEmittedDuringCloseAreDropped() {
    Generator<Integer> generator =
        Generator.of(
            out -> {
              try {
                out.emit(1);
              } finally {
                out.emit(2);
              }
            });
    assertThat(generator.next()).isEqualTo(1);
    generator.close();
    assertThat(generator.hasNext()).isFalse();
  }

  @Test
  void aBodyMayYieldByItself() {
    Generator<Integer> generator =
        Generator.of(
            out -> {
              out.emit(1);
              Coroutine.yield();
              out.emit(2);
              Coroutine.yield();
            });
    assertThat(generator.stream()).containsExactly(1, 2);
  }

  @Test
  void nextAfterTheEndIsNoSuchElement() {
    Generator<Integer> empty = Generator.of(out -> {});
    assertThatThrownBy(empty::next)
        .isInstanceOf(NoSuchElementException.class)
        .hasMessageContaining("ended");
  }

  @Test
  void failuresComeOutAndEndTheSequence() {
    Generator<Integer> unchecked =
        Generator.of(
            out -> {
              out.emit(1);
              throw new IllegalArgumentException("broken");
            });
    assertThat(unchecked.next()).isEqualTo(1);
    assertThatThrownBy(unchecked::next).hasMessage("broken");
    assertThat(unchecked.hasNext()).isFalse();

    Generator<Integer> checked =
        Generator.of(
            out -> {
              throw new IOException("lost");
            });
    assertThatThrownBy(checked::hasNext)
        .isInstanceOf(CompletionException.class)
        .hasRootCauseMessage("lost");
  }

  @Test
  void generatorsNest() {
    assertThat(countdownTree(3).stream()).containsExactly(1, 2, 1, 3, 1, 2, 1);
  }

  private static Generator<Integer> countdownTree(int depth) {
    return Generator.of(
        out -> {
          if (depth > 0) {
            countdownTree(depth - 1).forEachRemaining(out::emit);
            out.emit(depth);
            countdownTree(depth - 1).forEachRemaining(out::emit);
          }
        });
  }

  @Test
  @SuppressWarnings("DataFlowIssue")
  void nullIsRefused() {
    Generator<String> generator = Generator.of(out -> out.emit(nothing()));
    assertThatThrownBy(generator::next).isInstanceOf(NullPointerException.class);
  }

  @SuppressWarnings({"NullAway", "TypeParameterUnusedInFormals"})
  private static <T> T nothing() {
    return null;
  }

  @Test
  void emittingOutsideItsOwnBodyIsRefused() {
    List<Generator.Emitter<Integer>> leaked = new ArrayList<>();
    Generator<Integer> generator =
        Generator.of(
            out -> {
              leaked.add(out);
              Coroutine inner = Coroutine.of(() -> out.emit(1));
              assertThatIllegalStateException()
                  .isThrownBy(inner::resume)
                  .withMessageContaining("cannot emit");
            });
    assertThat(generator.hasNext()).isFalse();
    assertThatIllegalStateException().isThrownBy(() -> leaked.get(0).emit(2));
  }
}
