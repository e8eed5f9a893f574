package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Each coroutine has its own value. */
@Feature("C13")
class CoroutineLocalTest {
  @Test
  void valuesAreApartPerCoroutineAndFromTheThread() {
    CoroutineLocal<String> name = CoroutineLocal.withInitial(() -> "initial");
    List<String> seen = new ArrayList<>();
    name.set("thread");
    Coroutine a = coroutineThatSets(name, "a", seen);
    Coroutine b = coroutineThatSets(name, "b", seen);
    a.resume();
    b.resume();
    seen.add(name.get());
    a.resume();
    b.resume();
    assertThat(seen).containsExactly("initial", "initial", "thread", "a", "b");
  }

  private static Coroutine coroutineThatSets(
      CoroutineLocal<String> name, String value, List<String> seen) {
    return Coroutine.of(
        () -> {
          seen.add(name.get());
          name.set(value);
          Coroutine.yield();
          seen.add(name.get());
        });
  }

  @Test
  void theSupplierIsAskedOncePerCoroutine() {
    AtomicInteger asked = new AtomicInteger();
    CoroutineLocal<Integer> number = CoroutineLocal.withInitial(asked::incrementAndGet);
    for (int i = 1; i <= 3; i++) {
      int expected = i;
      Coroutine.of(
              () -> {
                assertThat(number.get()).isEqualTo(expected);
                assertThat(number.get()).isEqualTo(expected);
              })
          .resume();
    }
    assertThat(asked).hasValue(3);
  }

  @Test
  void innerCoroutinesDoNotSeeTheOuterCoroutinesValue() {
    CoroutineLocal<String> name = CoroutineLocal.withInitial(() -> "initial");
    List<String> seen = new ArrayList<>();
    Coroutine.of(
            () -> {
              name.set("outer");
              Coroutine.of(() -> seen.add(name.get())).resume();
              seen.add(name.get());
            })
        .resume();
    assertThat(seen).containsExactly("initial", "outer");
  }

  @Test
  void aResetCoroutineStartsWithoutTheOldValues() {
    CoroutineLocal<String> name = CoroutineLocal.withInitial(() -> "initial");
    List<String> seen = new ArrayList<>();
    Coroutine coroutine = Coroutine.of(() -> name.set("old"));
    coroutine.resume();
    coroutine.reset(() -> seen.add(name.get()));
    coroutine.resume();
    assertThat(seen).containsExactly("initial");
  }
}
