package dev.weft.im;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Scheduler;
import dev.weft.testkit.Feature;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** The queue of one client. */
@Feature("A4")
class OutboxTest {
  /** A client that reads nothing until it is told to. */
  private static final class SlowWire implements Wire {
    final List<String> lines = new CopyOnWriteArrayList<>();
    final CountDownLatch writing = new CountDownLatch(1);
    final CountDownLatch reads = new CountDownLatch(1);
    final CountDownLatch closed = new CountDownLatch(1);
    volatile int breaksAfter = Integer.MAX_VALUE;

    @Override
    public String read() {
      return null;
    }

    @Override
    public void write(List<String> more) throws Unfinished {
      writing.countDown();
      try {
        reads.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      int room = Math.min(more.size(), breaksAfter - lines.size());
      lines.addAll(more.subList(0, room));
      if (room < more.size()) {
        throw new Unfinished(room, new IOException("it breaks"));
      }
    }

    @Override
    public void close() {
      closed.countDown();
      reads.countDown();
    }

    @Override
    public String place() {
      return "here";
    }
  }

  private final SlowWire wire = new SlowWire();
  private final List<Long> delivered = new CopyOnWriteArrayList<>();
  private final LineBudget budget = new LineBudget(3 * LineBudget.costOf("MSG 1"), 5_000, 10_000);
  private final Outbox outbox = new Outbox(wire, Scheduler.shared(), budget, delivered::add);

  @Test
  void overflowEndsWithBye() throws Exception {
    outbox.offer("MSG 1", 1);
    wire.writing.await();
    for (int id = 2; id <= 5; id++) {
      outbox.offer("MSG " + id, id);
    }
    wire.reads.countDown();
    wire.closed.await();
    assertThat(wire.lines).hasSize(2).first().isEqualTo("MSG 1");
    assertThat(wire.lines.getLast()).startsWith("BYE ");
    assertThat(delivered).containsExactly(1L);
  }

  @Test
  void onlyWholeLinesCountAsDelivered() throws Exception {
    wire.breaksAfter = 2;
    outbox.offer("MSG 1", 1);
    wire.writing.await();
    outbox.offer("MSG 2", 2);
    outbox.offer("MSG 3", 3);
    outbox.offer("MSG 4", 4);
    wire.reads.countDown();
    wire.closed.await();
    assertThat(delivered).containsExactly(1L, 2L);
  }

  @Test
  void heldLinesComeAfterSentLines() throws Exception {
    wire.reads.countDown();
    outbox.hold();
    outbox.offer("MSG 6", 6);
    for (int id = 1; id <= 5; id++) { // more than there is room for
      outbox.send(List.of("MSG " + id), id);
    }
    outbox.release();
    assertThat(wire.lines).hasSizeGreaterThanOrEqualTo(5); // what was missed is through
    outbox.offer("MSG 7", 7);
    outbox.drain();
    outbox.writeLast("OK QUIT");
    List<String> expected = new ArrayList<>();
    for (int id = 1; id <= 7; id++) {
      expected.add("MSG " + id);
    }
    expected.add("OK QUIT");
    assertThat(wire.lines).isEqualTo(expected);
    assertThat(delivered).last().isEqualTo(7L);
  }

  /** A client that has ended its side may have read what was being written, but nothing later. */
  @Test
  void aWriteThatBeganBeforeTheClientEndedCounts() throws Exception {
    outbox.offer("MSG 1", 1);
    wire.writing.await();
    outbox.offer("MSG 2", 2);
    outbox.endedByClient();
    wire.reads.countDown();
    outbox.drain();
    assertThat(wire.lines).containsExactly("MSG 1", "MSG 2");
    assertThat(delivered).containsExactly(1L);
  }

  @Test
  void allThatWasCountedIsGivenBack() throws Exception {
    outbox.loggedIn("ann");
    outbox.offer("MSG 1", 1);
    wire.writing.await();
    outbox.send(List.of("OK HISTORY 2", "MSG 2", "MSG 3"), 0);
    outbox.hold();
    outbox.offer("MSG 4", 4);
    assertThat(budget.total())
        .isEqualTo(4 * LineBudget.costOf("MSG 1") + LineBudget.costOf("OK HISTORY 2"));
    wire.reads.countDown();
    outbox.release();
    outbox.drain();
    outbox.end();
    assertThat(budget.total()).isZero();
    assertThat(wire.lines).containsExactly("MSG 1", "OK HISTORY 2", "MSG 2", "MSG 3", "MSG 4");
  }

  /** Of the connections of a user that has too much queued the one with the longest queue goes. */
  @Test
  void aUserThatReadsTooLittleLosesItsSlowestConnection() throws Exception {
    SlowWire other = new SlowWire();
    Outbox brief = new Outbox(other, Scheduler.shared(), budget, id -> {});
    outbox.loggedIn("ann");
    brief.loggedIn("ann");
    brief.send(List.of("x".repeat(100)), 0);
    other.writing.await();
    outbox.send(List.of("first"), 0);
    wire.writing.await();
    outbox.send(List.of("x".repeat(2280)), 0);
    assertThat(outbox.isEnding()).isFalse();
    outbox.send(List.of("y"), 0);
    assertThat(outbox.isEnding()).isTrue();
    assertThat(brief.isEnding()).isFalse();
    wire.reads.countDown();
    other.reads.countDown();
    wire.closed.await();
    brief.drain();
    assertThat(other.lines).hasSize(1);
    assertThat(wire.lines.getLast()).startsWith("BYE too much waits to be read by you");
  }

  @Test
  void aServerShortOfMemoryDropsTheSlowestOfAll() throws Exception {
    List<Outbox> crowd = new ArrayList<>();
    List<SlowWire> wires = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      wires.add(new SlowWire());
      crowd.add(new Outbox(wires.get(i), Scheduler.shared(), budget, id -> {}));
      crowd.get(i).loggedIn("user-" + i);
      crowd.get(i).send(List.of("first"), 0);
      wires.get(i).writing.await();
      crowd.get(i).send(List.of("x".repeat(i == 3 ? 900 : 200)), 0);
    }
    for (int i = 0; i < 10; i++) {
      crowd.get(i).send(List.of("x".repeat(200)), 0);
    }
    for (int i = 0; i < 10; i++) {
      assertThat(crowd.get(i).isEnding()).as("user-" + i).isEqualTo(i == 3);
      wires.get(i).reads.countDown();
      crowd.get(i).drain();
      crowd.get(i).end();
    }
    assertThat(budget.total()).isZero();
  }
}
