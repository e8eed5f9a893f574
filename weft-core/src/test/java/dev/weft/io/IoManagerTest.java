package dev.weft.io;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.internal.poller.LinuxCalls;
import dev.weft.internal.poller.Poller;
import dev.weft.testkit.Feature;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.Pipe;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** Events on channels and descriptors, on whichever poller the run is for. */
@SuppressWarnings("UnnecessaryAsync")
class IoManagerTest {
  private final Scheduler scheduler = Scheduler.builder().threads(2).build().start();
  private final IoManager io = scheduler.io();
  private final CountDownLatch called = new CountDownLatch(1);
  private SocketChannel left;
  private SocketChannel right;

  @BeforeEach
  void connect() throws Exception {
    try (ServerSocketChannel listener = ServerSocketChannel.open()) {
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      left = SocketChannel.open(listener.getLocalAddress());
      right = listener.accept();
    }
    left.configureBlocking(false);
    right.configureBlocking(false);
  }

  @AfterEach
  void stop() throws Exception {
    left.close();
    right.close();
    scheduler.stop();
    assertThat(io.pendingEvents()).isZero();
  }

  private void awaitCall() throws InterruptedException {
    assertThat(called.await(15, TimeUnit.SECONDS)).as("called back").isTrue();
  }

  private void send() throws Exception {
    right.write(ByteBuffer.wrap(new byte[] {1}));
  }

  @Test
  @Feature({"I1", "I8"})
  void aCallbackRunsOnceAsAFiberAndMayBlock() throws Exception {
    AtomicInteger calls = new AtomicInteger();
    io.addEvent(
        left,
        IoEvent.READ,
        () -> {
          assertThat(Scheduler.current()).contains(scheduler);
          Fiber.sleep(Duration.ofMillis(1));
          calls.incrementAndGet();
          called.countDown();
        });
    assertThat(io.pendingEvents()).isEqualTo(1);
    send();
    awaitCall();
    eventually("no event is pending", () -> io.pendingEvents() == 0);
    send();
    CountDownLatch second = new CountDownLatch(1);
    io.addEvent(left, IoEvent.READ, second::countDown); // it is there already
    assertThat(second.await(15, TimeUnit.SECONDS)).isTrue();
    assertThat(calls).hasValue(1);
  }

  @Test
  @Feature("I1")
  void anEventThatOutlivesItsSuspendDoesNotWakeTheNextOne() throws Exception {
    CountDownLatch first = new CountDownLatch(1);
    Fiber<Void> fiber =
        scheduler.go(
            () -> {
              io.addEvent(left, IoEvent.READ);
              Fiber.suspend(); // ended by schedule: the event stays
              first.countDown();
              Fiber.suspend();
              called.countDown();
            });
    waits(fiber);
    scheduler.schedule(fiber);
    assertThat(first.await(15, TimeUnit.SECONDS)).isTrue();
    waits(fiber);
    send();
    eventually("the event has fired", () -> io.pendingEvents() == 0);
    io.await(left, IoEvent.READ, Duration.ofSeconds(15)); // after the event, on the same poller
    waits(fiber);
    assertThat(called.getCount()).isEqualTo(1);
    scheduler.schedule(fiber);
    awaitCall();
  }

  @Test
  @Feature("I1")
  void withoutACallbackTheFiberIsScheduled() throws Exception {
    Fiber<Integer> reader =
        scheduler.go(
            () -> {
              ByteBuffer buffer = ByteBuffer.allocate(1);
              while (left.read(buffer) == 0) {
                io.addEvent(left, IoEvent.READ);
                Fiber.suspend();
              }
              return (int) buffer.get(0);
            });
    waits(reader);
    send();
    assertThat(reader.join()).isEqualTo(1);
    assertThatIllegalStateException()
        .isThrownBy(() -> io.addEvent(left, IoEvent.READ))
        .withMessageContaining("outside a fiber");
  }

  @Test
  @Feature("I2")
  void aSecondOneIsRefusedAndTheFirstStays() throws Exception {
    io.addEvent(left, IoEvent.READ, called::countDown);
    assertThatIllegalStateException()
        .isThrownBy(() -> io.addEvent(left, IoEvent.READ, () -> {}))
        .withMessageContaining("READ")
        .withMessageContaining("there already");
    assertThat(io.pendingEvents()).isEqualTo(1);
    send();
    awaitCall();
  }

  @Test
  @Feature("I3")
  void delIsSilentAndCancelFiresOnce() throws Exception {
    AtomicInteger calls = new AtomicInteger();
    assertThat(io.delEvent(left, IoEvent.READ)).isFalse();
    assertThat(io.cancelEvent(left, IoEvent.READ)).isFalse();
    assertThat(io.cancelAll(left)).isFalse();

    io.addEvent(left, IoEvent.READ, calls::incrementAndGet);
    assertThat(io.delEvent(left, IoEvent.WRITE)).isFalse();
    assertThat(io.delEvent(left, IoEvent.READ)).isTrue();
    assertThat(io.delEvent(left, IoEvent.READ)).isFalse();
    send();

    ByteBuffer drain = ByteBuffer.allocate(1);
    eventually("it is readable", () -> readable(drain));
    io.addEvent(left, IoEvent.READ, called::countDown);
    assertThat(io.cancelEvent(left, IoEvent.READ)).isTrue();
    assertThat(io.cancelEvent(left, IoEvent.READ)).isFalse();
    awaitCall();
    assertThat(calls).hasValue(0);
  }

  private boolean readable(ByteBuffer into) {
    try {
      return left.read(into) > 0;
    } catch (java.io.IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  @Feature("I3")
  void cancelAllFiresEach() throws Exception {
    fill(left);
    CountDownLatch both = new CountDownLatch(2);
    io.addEvent(left, IoEvent.READ, both::countDown);
    io.addEvent(left, IoEvent.WRITE, both::countDown);
    assertThat(io.pendingEvents()).isEqualTo(2);
    assertThat(io.cancelAll(left)).isTrue();
    assertThat(both.await(15, TimeUnit.SECONDS)).isTrue();
    assertThat(io.cancelAll(left)).isFalse();
  }

  private static void fill(SocketChannel channel) throws Exception {
    ByteBuffer block = ByteBuffer.allocate(1 << 20);
    while (channel.write(block.clear()) > 0) {}
  }

  @Test
  @Feature("I4")
  void aResetFiresEveryDirection() throws Exception {
    fill(left);
    CountDownLatch both = new CountDownLatch(2);
    io.addEvent(left, IoEvent.READ, both::countDown);
    io.addEvent(left, IoEvent.WRITE, both::countDown);
    right.setOption(StandardSocketOptions.SO_LINGER, 0);
    right.close();
    assertThat(both.await(15, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  @Feature("I5")
  void theDirectionsAreIndependent() throws Exception {
    fill(left);
    CountDownLatch writable = new CountDownLatch(1);
    Thread.ofPlatform().start(() -> io.addEvent(left, IoEvent.READ, called::countDown)).join();
    scheduler.go(() -> io.addEvent(left, IoEvent.WRITE, writable::countDown)).join();
    send();
    awaitCall();
    eventually(
        "one event is pending",
        () -> io.pendingEvents() == 1); // the callback may be quicker than the count
    assertThat(writable.getCount()).isEqualTo(1);
    ByteBuffer sink = ByteBuffer.allocate(1 << 20);
    scheduler
        .go(
            () -> {
              while (writable.getCount() > 0) {
                right.read(sink.clear());
                Fiber.yield();
              }
            })
        .join();
  }

  @Test
  @Feature("I6")
  void closingTheChannelWakesItsWaiters() throws Exception {
    fill(left);
    Fiber<Void> waiter = scheduler.go(() -> io.await(left, IoEvent.READ, Duration.ZERO));
    waits(waiter);
    io.addEvent(left, IoEvent.WRITE, called::countDown);
    left.close();
    assertThatExceptionOfType(CompletionException.class)
        .isThrownBy(waiter::join)
        .withCauseInstanceOf(AsynchronousCloseException.class);
    awaitCall();
    assertThatExceptionOfType(ClosedChannelException.class)
        .isThrownBy(() -> io.await(left, IoEvent.READ, Duration.ZERO));
    assertThatExceptionOfType(UncheckedIOException.class)
        .isThrownBy(() -> io.addEvent(left, IoEvent.READ, () -> {}))
        .withCauseInstanceOf(ClosedChannelException.class);
    eventually("the peer sees the end", () -> peerSeesTheEnd());
  }

  private boolean peerSeesTheEnd() {
    try {
      return right.read(ByteBuffer.allocate(1 << 20)) < 0;
    } catch (java.io.IOException e) {
      return true; // or a reset, for what was not read
    }
  }

  @Test
  @Feature("I6")
  void aReusedDescriptorNeverGetsAnOldEvent() throws Exception {
    for (int i = 0; i < 300; i++) {
      Pipe old = Pipe.open();
      old.source().configureBlocking(false);
      AtomicInteger calls = new AtomicInteger();
      io.addEvent(old.source(), IoEvent.READ, calls::incrementAndGet);
      old.sink().write(ByteBuffer.wrap(new byte[] {1}));
      old.source().close();
      old.sink().close();
      Pipe next = Pipe.open(); // as a rule it has the same numbers
      next.source().configureBlocking(false);
      AtomicInteger nextCalls = new AtomicInteger();
      io.addEvent(next.source(), IoEvent.READ, nextCalls::incrementAndGet);
      eventually("it is called", () -> calls.get() == 1);
      assertThat(nextCalls).hasValue(0);
      assertThat(io.delEvent(next.source(), IoEvent.READ)).isTrue();
      next.source().close();
      next.sink().close();
    }
  }

  @Test
  @Feature("I1")
  void awaitReturnsTimesOutAndIsCancelled() throws Exception {
    io.await(left, IoEvent.WRITE, Duration.ofSeconds(5));
    assertThatExceptionOfType(SocketTimeoutException.class)
        .isThrownBy(() -> io.await(left, IoEvent.READ, Duration.ofMillis(20)))
        .withMessageContaining("READ");
    assertThat(io.pendingEvents()).isZero();
    List<Class<?>> thrown = new ArrayList<>();
    Fiber<Void> waiter =
        scheduler.go(
            () -> {
              try {
                io.await(left, IoEvent.READ, Duration.ofHours(1));
              } catch (InterruptedIOException e) {
                thrown.add(e.getClass());
                throw e;
              }
            });
    waits(waiter);
    assertThat(scheduler.dump().text()).contains("waits for READ of");
    waiter.cancel();
    assertThatExceptionOfType(CancellationException.class).isThrownBy(waiter::join);
    assertThat(thrown).containsExactly(InterruptedIOException.class);
    assertThat(io.pendingEvents()).isZero();
    send();
    io.await(left, IoEvent.READ, Duration.ZERO);
  }

  @Test
  @Feature("I1")
  void aBlockingChannelIsRefusedAndAFreeOneMayBecomeBlockingAgain() throws Exception {
    right.configureBlocking(true);
    assertThatExceptionOfType(IllegalBlockingModeException.class)
        .isThrownBy(() -> io.addEvent(right, IoEvent.READ, () -> {}));
    assertThat(io.pendingEvents()).isZero();
    if (Poller.isEpoll()) {
      io.addEvent(left, IoEvent.READ, () -> {});
      io.delEvent(left, IoEvent.READ);
      left.configureBlocking(true);
      assertThat(left.isBlocking()).isTrue();
    }
  }

  @Test
  @Feature("S5")
  void stopWaitsForPendingEvents() throws Exception {
    Scheduler other = Scheduler.builder().threads(1).build().start();
    AtomicInteger calls = new AtomicInteger();
    other
        .io()
        .addEvent(
            left,
            IoEvent.READ,
            () -> {
              Fiber.sleep(Duration.ofMillis(5));
              calls.incrementAndGet();
            });
    Thread stopper = Thread.ofPlatform().start(other::stop);
    eventually("stop() waits", () -> stopper.getState() == Thread.State.WAITING);
    send();
    stopper.join();
    assertThat(calls).hasValue(1);
    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> other.io().addEvent(left, IoEvent.READ, () -> {}));

    Scheduler impatient = Scheduler.builder().threads(1).build().start();
    impatient.io().addEvent(right, IoEvent.READ, calls::incrementAndGet);
    assertThat(impatient.stop(Duration.ofMillis(10))).isFalse();
    assertThat(calls).hasValue(1);
  }

  @Test
  @Feature("S19")
  void whoWaitsForIoIsNotTakenForDead() throws Exception {
    Scheduler failing = Scheduler.builder().threads(2).failOnDeadlock(true).build().start();
    Fiber<Void> suspended =
        failing.go(
            () -> {
              failing.io().addEvent(left, IoEvent.READ);
              Fiber.suspend();
            });
    Fiber<Void> waiting = failing.go(() -> failing.io().await(right, IoEvent.READ, Duration.ZERO));
    waits(suspended);
    waits(waiting);
    Thread stopper = Thread.ofPlatform().start(failing::stop);
    eventually("stop() waits", () -> stopper.getState() == Thread.State.WAITING);
    send();
    suspended.join();
    left.write(ByteBuffer.wrap(new byte[] {1}));
    stopper.join();
    waiting.join();
  }

  @Test
  @Feature({"S17", "H7"})
  void othersPollForAStuckThread() throws Exception {
    Fiber<Void> waiter =
        scheduler.go(
            FiberOptions.named("waiter").onThread(0),
            () -> io.await(left, IoEvent.READ, Duration.ZERO));
    waits(waiter);
    AtomicBoolean release = new AtomicBoolean();
    scheduler.go(
        FiberOptions.named("hog").onThread(0),
        () -> {
          called.countDown();
          while (!release.get()) {
            Thread.onSpinWait();
          }
        });
    awaitCall();
    send();
    eventually("no event is pending", () -> io.pendingEvents() == 0); // told by thread 1
    release.set(true);
    waiter.join();
  }

  @Test
  @Feature("I1")
  @DisabledIfSystemProperty(named = "weft.poller", matches = "nio")
  void bareDescriptorsCanBeWatchedToo() throws Exception {
    int descriptor = LinuxCalls.eventfd(0, 0x800);
    try {
      io.addEvent(descriptor, IoEvent.READ, called::countDown);
      assertThatIllegalStateException()
          .isThrownBy(() -> io.addEvent(descriptor, IoEvent.READ, () -> {}))
          .withMessageContaining("descriptor " + descriptor);
      assertThat(io.delEvent(descriptor, IoEvent.READ)).isTrue();
      io.addEvent(descriptor, IoEvent.READ, called::countDown);
      LinuxCalls.write(descriptor, MemorySegment.ofArray(new long[] {1}));
      awaitCall();
      io.await(descriptor, IoEvent.WRITE, Duration.ZERO);
      Fiber<Void> scheduled =
          scheduler.go(
              () -> {
                io.addEvent(descriptor, IoEvent.READ);
                Fiber.suspend();
              });
      scheduled.join();
      assertThat(io.cancelEvent(descriptor, IoEvent.READ)).isFalse();
      assertThat(io.cancelAll(descriptor)).isFalse();
    } finally {
      LinuxCalls.close(descriptor);
    }
    assertThatIllegalArgumentException()
        .isThrownBy(() -> io.addEvent(descriptor, IoEvent.READ, () -> {}))
        .withMessageContaining("not open");
    assertThatIllegalArgumentException().isThrownBy(() -> io.addEvent(-1, IoEvent.READ, () -> {}));
  }

  @Test
  @Feature("I7")
  @EnabledIfSystemProperty(named = "weft.poller", matches = "nio")
  void bareDescriptorsNeedEpoll() {
    assertThatExceptionOfType(UnsupportedOperationException.class)
        .isThrownBy(() -> io.addEvent(1, IoEvent.READ, () -> {}))
        .withMessageContaining("epoll");
  }

  /** Callbacks come on the threads that poll, which must never wait for a fiber of their own. */
  @Test
  @Feature({"I3", "I5"})
  void fibersThatAddAndTakeEventsDoNotBlockTheThreadsThatPoll() throws Exception {
    AtomicInteger fired = new AtomicInteger();
    List<Fiber<Void>> fibers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      IoEvent event = i < 2 ? IoEvent.WRITE : IoEvent.READ;
      fibers.add(
          scheduler.go(
              FiberOptions.named("busy").onThread(i % 2),
              () -> {
                for (int k = 0; k < 20_000; k++) {
                  try {
                    io.addEvent(left, event, fired::incrementAndGet);
                    if (event == IoEvent.READ) {
                      io.delEvent(left, event);
                    }
                  } catch (IllegalStateException e) {
                    // the other one has it
                  }
                  Fiber.yield();
                }
              }));
    }
    for (Fiber<Void> fiber : fibers) {
      fiber.join(Duration.ofSeconds(30));
    }
    io.cancelAll(left);
    assertThat(fired).hasPositiveValue();
  }

  @Test
  @Feature({"I1", "H2"})
  void aChannelThatAFiberHasReadInBlockingModeCanHaveEventsLater() throws Exception {
    left.configureBlocking(true);
    scheduler
        .go(
            FiberOptions.named("reader").onThread(0),
            () -> {
              scheduler.go(this::send);
              left.read(ByteBuffer.allocate(1)); // waits, by the hook
              left.configureBlocking(false);
              scheduler.go(this::send);
              io.await(left, IoEvent.READ, Duration.ofSeconds(10));
              assertThat(left.read(ByteBuffer.allocate(2))).isEqualTo(1);
            })
        .join();
  }

  @Test
  @Feature("I6")
  void aChannelThatHadEventsIsClosedAtOnce() throws Exception {
    InetSocketAddress address;
    try (ServerSocketChannel listener = ServerSocketChannel.open()) {
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      listener.configureBlocking(false);
      address = (InetSocketAddress) listener.getLocalAddress();
      for (int i = 0; i < 3; i++) {
        io.addEvent(listener, IoEvent.READ, () -> {});
        assertThat(io.delEvent(listener, IoEvent.READ)).isTrue();
      }
    }
    eventually("the address is free", () -> canBind(address));
  }

  private static boolean canBind(InetSocketAddress address) {
    try (ServerSocketChannel other = ServerSocketChannel.open()) {
      other.setOption(StandardSocketOptions.SO_REUSEADDR, false).bind(address);
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
