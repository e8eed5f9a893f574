package dev.weft.im;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Scheduler;
import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is announced of users that come and go; the clock stands until a test moves it. */
@Feature("A4")
class PresenceTest {
  private final AtomicLong clock = new AtomicLong();
  private final BlockingQueue<String> announced = new LinkedBlockingQueue<>();
  private final Presence presence =
      new Presence(
          Scheduler.shared(),
          clock::get,
          (user, online) -> announced.add(user + (online ? " online" : " away")));

  @AfterEach
  void close() {
    presence.close();
  }

  private void pass(Duration time) {
    clock.addAndGet(time.toNanos());
  }

  private String next() throws InterruptedException {
    String next = announced.poll(30, TimeUnit.SECONDS);
    assertThat(next).as("the next announcement").isNotNull();
    return next;
  }

  @Test
  void aUserThatComesAndGoesAllTheTimeIsAnnouncedOnce() throws Exception {
    presence.begin("eve");
    assertThat(next()).isEqualTo("eve online");
    for (int i = 0; i < 1000; i++) {
      presence.end("eve");
      presence.begin("eve");
    }
    pass(Presence.AWAY_AFTER);
    presence.begin("bob");
    assertThat(next()).isEqualTo("bob online");
    assertThat(announced).isEmpty();
  }

  @Test
  void awayIsAnnouncedLateAndWhoSaysWhatWasAnnounced() throws Exception {
    presence.begin("eve");
    assertThat(next()).isEqualTo("eve online");
    presence.end("eve");
    pass(Presence.AWAY_AFTER.minusNanos(1));
    presence.begin("bob");
    assertThat(next()).isEqualTo("bob online"); // and not eve
    assertThat(presence.isOnline("eve")).isTrue();
    assertThat(presence.isHere("eve")).isFalse();
    pass(Duration.ofNanos(1));
    presence.end("bob"); // has the announcer look at the clock
    assertThat(next()).isEqualTo("eve away");
    assertThat(presence.isOnline("eve")).isFalse();
    assertThat(presence.isOnline("bob")).isTrue();
    presence.begin("eve");
    assertThat(next()).isEqualTo("eve online");
    pass(Presence.AWAY_AFTER);
    presence.end("eve");
    assertThat(next()).isEqualTo("bob away");
  }

  @Test
  void aUserThatGoesFromNodeToNodeIsNotAway() throws Exception {
    presence.replace("other", Set.of("eve"));
    assertThat(next()).isEqualTo("eve online");
    presence.replace("other", Set.of());
    presence.begin("eve");
    pass(Presence.AWAY_AFTER);
    presence.begin("bob");
    assertThat(next()).isEqualTo("bob online");
    assertThat(announced).isEmpty();
  }

  /** The announcer waits for the time itself, if nothing else happens. */
  @Test
  void awayIsAnnouncedWithoutAnotherChange() throws Exception {
    try (Presence real =
        new Presence(
            Scheduler.shared(),
            System::nanoTime,
            (user, online) -> announced.add(user + (online ? " online" : " away")))) {
      real.begin("eve");
      assertThat(next()).isEqualTo("eve online");
      long gone = System.nanoTime();
      real.end("eve");
      assertThat(next()).isEqualTo("eve away");
      assertThat(Duration.ofNanos(System.nanoTime() - gone))
          .isGreaterThanOrEqualTo(Presence.AWAY_AFTER);
    }
  }
}
