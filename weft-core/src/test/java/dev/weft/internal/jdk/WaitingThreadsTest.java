package dev.weft.internal.jdk;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WaitingThreadsTest {
  private final Map<Integer, Thread> ofOriginal = new ConcurrentHashMap<>();
  private final WaitingThreads waiting = new WaitingThreads(ofOriginal);
  private final Thread me = Thread.currentThread();

  @ParameterizedTest
  @ValueSource(ints = {0, 127, 1_023, 1_024, 1_048_575, 1_048_576, Integer.MAX_VALUE})
  @Feature("H2")
  void whoIsPutDownIsTakenOutOnce(int fd) {
    assertThat(waiting.put(fd, me)).isNull();
    assertThat(waiting.remove(fd)).isSameAs(me);
    assertThat(waiting.remove(fd)).isNull();
    assertThat(waiting).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 5_000, 2_000_000})
  @Feature("H2")
  void whoIsLeftIsFoundByTheOriginalAndHere(int fd) {
    waiting.put(fd, me);
    waiting.leave(fd);
    assertThat(ofOriginal).containsOnlyKeys(fd);
    assertThat(waiting).hasSize(1).containsEntry(fd, me);
    assertThat(waiting.remove(fd)).isSameAs(me);
    assertThat(ofOriginal).isEmpty();
  }

  @Test
  @Feature("H2")
  void whoWasTakenOutByACloseIsNotLeftToAnyone() {
    waiting.put(7, me);
    assertThat(waiting.remove(7)).isSameAs(me);
    waiting.leave(7);
    assertThat(waiting).isEmpty();
  }

  @Test
  @Feature("H2")
  void waitsFromBeforeTheExchangeAreFound() {
    ofOriginal.put(3, me);
    waiting.put(4, me);
    assertThat(waiting).hasSize(2).containsKeys(3, 4);
    assertThat(waiting.remove(3)).isSameAs(me);
  }
}
