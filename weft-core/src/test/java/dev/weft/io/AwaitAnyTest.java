package dev.weft.io;

import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.testkit.Feature;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.Pipe;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** {@link IoManager#awaitAny}: the first of many channels, and nothing left registered. */
@Feature("I9")
class AwaitAnyTest {
  private static final Duration NO_LIMIT = Duration.ZERO;

  private final Scheduler scheduler = Scheduler.builder().threads(2).build().start();
  private final IoManager io = scheduler.io();
  private final List<Pipe.SourceChannel> sources = new ArrayList<>();
  private final List<Pipe.SinkChannel> sinks = new ArrayList<>();

  @BeforeEach
  void openPipes() throws IOException {
    for (int i = 0; i < 100; i++) {
      Pipe pipe = Pipe.open();
      pipe.source().configureBlocking(false);
      sources.add(pipe.source());
      sinks.add(pipe.sink());
    }
  }

  @AfterEach
  void closePipes() throws IOException {
    for (int i = 0; i < sources.size(); i++) {
      sources.get(i).close();
      sinks.get(i).close();
    }
    scheduler.stop();
    assertThat(io.pendingEvents()).isZero();
  }

  private void send(int pipe) throws IOException {
    sinks.get(pipe).write(ByteBuffer.wrap(new byte[] {(byte) pipe}));
  }

  private int receive(Pipe.SourceChannel source) throws IOException {
    ByteBuffer one = ByteBuffer.allocate(1);
    assertThat(source.read(one)).isEqualTo(1);
    return one.get(0);
  }

  private Fiber<Optional<Pipe.SourceChannel>> awaitAnyInAFiber() {
    return scheduler.go(() -> io.awaitAny(sources, IoEvent.READ, NO_LIMIT));
  }

  @Test
  void theFirstReadyChannelIsReturnedAndNoEventStays() throws Exception {
    Fiber<Optional<Pipe.SourceChannel>> waiter = awaitAnyInAFiber();
    waits(waiter);
    assertThat(io.pendingEvents()).isEqualTo(100);
    send(42);
    assertThat(waiter.join()).contains(sources.get(42));
    assertThat(io.pendingEvents()).isZero();
  }

  @Test
  void aPlainThreadMayWaitToo() throws Exception {
    send(7);
    assertThat(io.awaitAny(sources, IoEvent.READ, NO_LIMIT)).contains(sources.get(7));
  }

  @Test
  void whatWasNotChosenIsFoundByTheNextCall() throws Exception {
    Set<Integer> sent = new HashSet<>();
    for (int i = 0; i < 100; i += 3) {
      send(i);
      sent.add(i);
    }
    Set<Integer> received = new HashSet<>();
    while (received.size() < sent.size()) {
      Pipe.SourceChannel ready = io.awaitAny(sources, IoEvent.READ, NO_LIMIT).orElseThrow();
      received.add(receive(ready));
    }
    assertThat(received).isEqualTo(sent);
    assertThat(io.awaitAny(sources, IoEvent.READ, Duration.ofMillis(5))).isEmpty();
  }

  @Test
  void theLimitEndsTheWaitWithNothing() throws Exception {
    long start = System.nanoTime();
    assertThat(io.awaitAny(sources, IoEvent.READ, Duration.ofMillis(20))).isEmpty();
    assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(20_000_000);
    assertThat(io.pendingEvents()).isZero();
  }

  @Test
  void closingOneOfTheChannelsEndsTheWait() throws Exception {
    Fiber<Optional<Pipe.SourceChannel>> waiter = awaitAnyInAFiber();
    waits(waiter);
    sources.get(3).close();
    assertThatExceptionOfType(CompletionException.class)
        .isThrownBy(waiter::join)
        .withCauseInstanceOf(AsynchronousCloseException.class);
    assertThat(io.pendingEvents()).isZero();
  }

  @Test
  void aClosedChannelIsRefusedAndTheOthersAreWithdrawn() throws Exception {
    sources.get(50).close();
    assertThatExceptionOfType(ClosedChannelException.class)
        .isThrownBy(() -> io.awaitAny(sources, IoEvent.READ, NO_LIMIT));
    assertThat(io.pendingEvents()).isZero();
  }

  @Test
  void aCancelledFiberLeavesNoEvent() throws Exception {
    Fiber<Optional<Pipe.SourceChannel>> waiter = awaitAnyInAFiber();
    waits(waiter);
    waiter.cancel();
    assertThatExceptionOfType(CancellationException.class).isThrownBy(waiter::join);
    assertThat(io.pendingEvents()).isZero();
  }

  @Test
  void anEventThatIsThereAlreadyIsRefusedAndStays() throws Exception {
    Fiber<Void> first = scheduler.go(() -> io.await(sources.get(9), IoEvent.READ, NO_LIMIT));
    waits(first);
    assertThatIllegalStateException()
        .isThrownBy(() -> io.awaitAny(sources, IoEvent.READ, NO_LIMIT))
        .withMessageContaining("it is there already");
    assertThat(io.pendingEvents()).isEqualTo(1);
    send(9);
    first.join();
  }

  @Test
  void aChannelThatIsListedTwiceCountsOnce() throws Exception {
    send(1);
    List<Pipe.SourceChannel> twice = List.of(sources.get(1), sources.get(1));
    assertThat(io.awaitAny(twice, IoEvent.READ, NO_LIMIT)).contains(sources.get(1));
  }

  @Test
  void anEmptyCollectionIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> io.awaitAny(List.<Pipe.SourceChannel>of(), IoEvent.READ, NO_LIMIT))
        .withMessageContaining("at least one channel");
  }

  @Test
  void manyFibersEachWaitForTheirOwnChannels() throws Exception {
    List<Fiber<Integer>> readers = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      List<Pipe.SourceChannel> own = sources.subList(10 * i, 10 * i + 10);
      readers.add(
          scheduler.go(
              () -> {
                int sum = 0;
                for (int n = 0; n < 10; n++) {
                  sum += receive(io.awaitAny(own, IoEvent.READ, NO_LIMIT).orElseThrow());
                }
                return sum;
              }));
    }
    for (int i = 99; i >= 0; i--) {
      send(i);
    }
    int total = 0;
    for (Fiber<Integer> reader : readers) {
      total += reader.join();
    }
    assertThat(total).isEqualTo(99 * 100 / 2);
  }
}
