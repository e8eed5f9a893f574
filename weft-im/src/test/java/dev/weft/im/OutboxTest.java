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
    }
  }

  private final SlowWire wire = new SlowWire();
  private final List<Long> delivered = new CopyOnWriteArrayList<>();
  private final Outbox outbox = new Outbox(wire, Scheduler.shared(), 3, delivered::add);

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
  void whatIsHeldComesAfterWhatIsSent() throws Exception {
    wire.reads.countDown();
    outbox.hold();
    outbox.offer("MSG 6", 6);
    for (int id = 1; id <= 5; id++) { // more than there is room for
      outbox.send(List.of("MSG " + id), id);
    }
    outbox.release();
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
}
