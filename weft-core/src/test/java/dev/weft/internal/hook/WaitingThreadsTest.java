package dev.weft.internal.hook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.testkit.Feature;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeElement;
import java.lang.classfile.MethodModel;
import java.lang.classfile.instruction.InvokeInstruction;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
  void anAddedThreadIsTakenOutOnce(int fd) {
    assertThat(waiting.put(fd, me)).isNull();
    assertThat(waiting.remove(fd)).isSameAs(me);
    assertThat(waiting.remove(fd)).isNull();
    assertThat(waiting).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 5_000, 2_000_000})
  @Feature("H2")
  void aThreadLeftToTheOriginalIsFoundThereAndHere(int fd) {
    waiting.put(fd, me);
    waiting.leave(fd);
    assertThat(ofOriginal).containsOnlyKeys(fd);
    assertThat(waiting).hasSize(1).containsEntry(fd, me);
    assertThat(waiting.remove(fd)).isSameAs(me);
    assertThat(ofOriginal).isEmpty();
  }

  @Test
  @Feature("H2")
  void aThreadTakenOutByACloseIsNotLeftToTheOriginal() {
    waiting.put(7, me);
    assertThat(waiting.remove(7)).isSameAs(me);
    waiting.leave(7);
    assertThat(waiting).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 5_000, 2_000_000})
  @Feature("H2")
  void aLookUpFindsAThreadWhereverItStands(int fd) {
    assertThat(waiting.get(fd)).isNull();
    assertThat(waiting.containsKey(fd)).isFalse();
    waiting.put(fd, me);
    assertThat(waiting.get(fd)).isSameAs(me);
    assertThat(waiting.put(fd, me)).isSameAs(me);
    waiting.leave(fd);
    assertThat(waiting.get(fd)).isSameAs(me);
    assertThat(waiting.containsKey(fd)).isTrue();
    assertThat(waiting.containsValue(me)).isTrue();
    assertThat(waiting.keySet()).containsExactly(fd);
    assertThat(waiting.isEmpty()).isFalse();
  }

  @Test
  @Feature("H2")
  void unsupportedOperationsAreRefused() {
    waiting.put(3, me);
    List<Runnable> calls =
        List.of(
            () -> waiting.putIfAbsent(3, me),
            () -> waiting.remove(3, me),
            () -> waiting.replace(3, me),
            () -> waiting.replace(3, me, me),
            () -> waiting.replaceAll((fd, thread) -> thread),
            () -> waiting.computeIfAbsent(3, fd -> me),
            () -> waiting.computeIfPresent(3, (fd, thread) -> thread),
            () -> waiting.compute(3, (fd, thread) -> me),
            () -> waiting.merge(3, me, (before, after) -> after),
            () -> waiting.clear(),
            () -> waiting.keySet().remove(3),
            () -> waiting.values().remove(me),
            () -> waiting.entrySet().clear(),
            () -> waiting.entrySet().iterator().next().setValue(me));
    for (Runnable call : calls) {
      assertThatThrownBy(call::run).isInstanceOf(UnsupportedOperationException.class);
    }
    assertThat(waiting.remove(3)).isSameAs(me);
  }

  /** The JDK's operations on its map, by the code of this JDK. */
  @Test
  @Feature("H9")
  void theJdkCallsNothingElse() throws Exception {
    Set<String> called = new HashSet<>();
    try (InputStream poller = Object.class.getResourceAsStream("/sun/nio/ch/Poller.class")) {
      for (MethodModel method : ClassFile.of().parse(poller.readAllBytes()).methods()) {
        method
            .code()
            .ifPresent(
                code -> {
                  for (CodeElement element : code) {
                    if (element instanceof InvokeInstruction call
                        && call.owner().asInternalName().startsWith("java/util/Map")) {
                      called.add(call.name() + call.type().stringValue());
                    }
                  }
                });
      }
    }
    assertThat(called)
        .isSubsetOf(
            "put(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;",
            "remove(Ljava/lang/Object;)Ljava/lang/Object;",
            "get(Ljava/lang/Object;)Ljava/lang/Object;",
            "size()I",
            "isEmpty()Z");
    assertThat(called).hasSizeGreaterThanOrEqualTo(3);
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
