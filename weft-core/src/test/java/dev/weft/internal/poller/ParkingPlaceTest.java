package dev.weft.internal.poller;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A wake-up reaches a sleeping worker, by the JVM's parking, by a futex, and during the change. */
@Feature("S9")
class ParkingPlaceTest {
  private static final int NEVER = Integer.MAX_VALUE;

  /** Waits until the place has a futex, which takes some time to link. */
  private static ParkingPlace withFutex() {
    assumeThat(Poller.isEpoll()).as("futexes are used with epoll only").isTrue();
    ParkingPlace place = new ParkingPlace(1);
    while (!place.hasFutex()) {
      place.enter();
      place.leave();
      Thread.onSpinWait();
    }
    return place;
  }

  /** Two threads wake each other: a lost wake-up would make both wait for ever. */
  private static void pingPong(ParkingPlace ping, ParkingPlace pong, int rounds)
      throws InterruptedException {
    AtomicInteger turn = new AtomicInteger();
    Thread other =
        Thread.ofPlatform()
            .start(
                () -> {
                  for (int i = 0; i < rounds; i++) {
                    await(pong, turn, 2 * i + 1);
                    turn.incrementAndGet();
                    ping.wake();
                  }
                });
    for (int i = 0; i < rounds; i++) {
      turn.incrementAndGet();
      pong.wake();
      await(ping, turn, 2 * i + 2);
    }
    other.join();
    assertThat(turn).hasValue(2 * rounds);
  }

  private static void await(ParkingPlace place, AtomicInteger turn, int value) {
    while (turn.get() != value) {
      place.enter();
      if (turn.get() != value) {
        place.await(Long.MAX_VALUE);
      }
      place.leave();
    }
  }

  @Test
  void losesNoWakeUpByParking() throws Exception {
    pingPong(new ParkingPlace(NEVER), new ParkingPlace(NEVER), 20_000);
  }

  @Test
  void losesNoWakeUpByFutex() throws Exception {
    pingPong(withFutex(), withFutex(), 50_000);
  }

  @Test
  void losesNoWakeUpDuringTheChangeToTheFutex() throws Exception {
    withFutex();
    for (int i = 0; i < 200; i++) {
      pingPong(new ParkingPlace(i), new ParkingPlace(2 * i), 200);
    }
  }

  @Test
  void returnsAtTheTimeLimit() {
    ParkingPlace place = withFutex();
    for (long millis : new long[] {0, 1, 20}) {
      long nanos = Duration.ofMillis(millis).toNanos();
      long start = System.nanoTime();
      place.enter();
      place.await(nanos);
      place.leave();
      assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(nanos);
    }
  }

  @Test
  void aWakeUpAfterItEnteredEndsTheWaitThatFollows() {
    ParkingPlace place = withFutex();
    place.enter();
    place.wake();
    place.await(Long.MAX_VALUE);
    place.leave();
  }

  @Test
  void theFutexIsNotUsedBeforeManyWaits() {
    withFutex();
    ParkingPlace place = new ParkingPlace(3);
    for (int i = 1; i <= 2; i++) {
      place.enter();
      place.leave();
      assertThat(place.hasFutex()).isFalse();
    }
    place.enter();
    assertThat(place.hasFutex()).isTrue();
  }
}
