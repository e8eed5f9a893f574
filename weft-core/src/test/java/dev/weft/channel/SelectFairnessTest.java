package dev.weft.channel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.testkit.Feature;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A select that waited at one channel with several clauses: the clauses are equally likely. */
@Feature("K9")
class SelectFairnessTest {
  private static final int ROUNDS = 2_000;

  private final Scheduler scheduler = Scheduler.builder().threads(1).build().start();
  private final Channel<Integer> a = Channel.rendezvous();
  private final Channel<Integer> b = Channel.rendezvous();

  @AfterEach
  void stop() {
    scheduler.stop();
  }

  /**
   * Selects in one fiber and meets each select in another fiber, by a try, which succeeds only when
   * the select waits; counts the results.
   */
  private int[] results(
      int kinds, List<Select.Clause<Integer>> clauses, BooleanSupplier metWaitingSelect)
      throws InterruptedException {
    int[] counts = new int[kinds];
    Select.Clause<Integer>[] array = arrayOf(clauses);
    Fiber<Void> selecting =
        scheduler.go(
            () -> {
              for (int i = 0; i < ROUNDS; i++) {
                counts[Select.of(array)]++;
              }
            });
    Fiber<Void> meets =
        scheduler.go(
            () -> {
              for (int i = 0; i < ROUNDS; i++) {
                while (!metWaitingSelect.getAsBoolean()) {
                  Fiber.yield();
                }
              }
            });
    selecting.join();
    meets.join();
    assertThat(array).as("the caller's array").containsExactlyElementsOf(clauses);
    return counts;
  }

  @SuppressWarnings("unchecked")
  private static Select.Clause<Integer>[] arrayOf(List<Select.Clause<Integer>> clauses) {
    return (Select.Clause<Integer>[]) clauses.toArray(new Select.Clause<?>[0]);
  }

  private static void assertEven(int[] counts) {
    int expected = ROUNDS / counts.length;
    double deviation = Math.sqrt((double) expected * (counts.length - 1) / counts.length);
    for (int count : counts) {
      assertThat(count)
          .as("of " + Arrays.toString(counts))
          .isCloseTo(expected, within((int) (8 * deviation)));
    }
  }

  @Test
  void twoSendsToOneChannel() throws Exception {
    int[] received = new int[2];
    int[] chosen =
        results(
            2,
            List.of(a.onSend(0, () -> 0), a.onSend(1, () -> 1)),
            () -> {
              Optional<Integer> value = a.tryReceive();
              value.ifPresent(sent -> received[sent]++);
              return value.isPresent();
            });
    assertThat(received).as("each clause sends its own value").isEqualTo(chosen);
    assertEven(chosen);
  }

  @Test
  void twoReceivesFromOneChannel() throws Exception {
    assertEven(
        results(2, List.of(a.onReceive(value -> 0), a.onReceive(value -> 1)), () -> a.trySend(7)));
  }

  @Test
  void threeClausesOfOneChannelAmongOthers() throws Exception {
    assertEven(
        results(
            3,
            List.of(
                a.onReceive(value -> 0),
                b.onReceive(value -> -1),
                a.onReceive(value -> 1),
                b.onSend(1, () -> -1),
                a.onReceive(value -> 2)),
            () -> a.trySend(7)));
  }

  @Test
  void sendsAndReceivesOfOneChannel() throws Exception {
    List<Select.Clause<Integer>> both =
        List.of(
            a.onSend(0, () -> 0),
            a.onReceive(value -> 2),
            a.onSend(1, () -> 1),
            a.onReceive(value -> 3));
    boolean[] sends = new boolean[1];
    assertEven(
        results(
            4,
            both,
            () -> {
              boolean met = sends[0] ? a.trySend(7) : a.tryReceive().isPresent();
              sends[0] ^= met;
              return met;
            }));
  }
}
