package dev.weft.im;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** How long wrong passwords make the next one wait. */
@Feature("A4")
class LoginGuardTest {
  private final AtomicLong clock = new AtomicLong();
  private final LoginGuard guard = new LoginGuard(clock::get);

  private void fail(int times, String place, String name) {
    for (int i = 0; i < times; i++) {
      guard.failed(place, name);
    }
  }

  private void pass(Duration time) {
    clock.addAndGet(time.toNanos());
  }

  @Test
  void pausesDoubleUpToAMinute() {
    fail(LoginGuard.FREE, "p", "ann");
    assertThat(guard.pauseBefore("p", "ann")).isZero();
    for (int seconds : new int[] {1, 2, 4, 8, 16, 32, 60, 60}) {
      guard.failed("p", "ann");
      assertThat(guard.pauseBefore("p", "ann")).isEqualTo(Duration.ofSeconds(seconds));
    }
    pass(Duration.ofSeconds(59));
    assertThat(guard.pauseBefore("p", "ann")).isEqualTo(Duration.ofSeconds(1));
    pass(Duration.ofSeconds(1));
    assertThat(guard.pauseBefore("p", "ann")).isZero();
  }

  @Test
  void placesAndNamesAreCountedApart() {
    for (int i = 0; i <= LoginGuard.FREE; i++) {
      guard.failed("p", "user-" + i);
      guard.failed("place-" + i, "ann");
    }
    assertThat(guard.pauseBefore("p", "bob")).isPositive();
    assertThat(guard.pauseBefore("q", "ann")).isPositive();
    assertThat(guard.pauseBefore("q", "bob")).isZero();
  }

  /** Somebody that floods a name, or shares an address, does not lock its owner out. */
  @Test
  void aUserThatWasThereBeforeIsCountedForItself() {
    guard.succeeded("home", "ann");
    fail(50, "away", "ann");
    fail(50, "home", "bob");
    assertThat(guard.pauseBefore("home", "ann")).isZero();
    assertThat(guard.pauseBefore("away", "ann")).isPositive();
    fail(LoginGuard.FREE + 1, "home", "ann");
    assertThat(guard.pauseBefore("home", "ann")).isPositive();
  }

  @Test
  void accountsAreCountedByPlaceAndApartFromPasswords() {
    for (int i = 0; i <= LoginGuard.FREE_ACCOUNTS; i++) {
      assertThat(guard.tryAccount("p")).isZero();
    }
    for (int i = 0; i < 100; i++) { // what is refused does not count
      assertThat(guard.tryAccount("p")).isEqualTo(Duration.ofSeconds(1));
    }
    assertThat(guard.tryAccount("q")).isZero();
    assertThat(guard.pauseBefore("p", "ann")).isZero();
    pass(Duration.ofSeconds(1));
    assertThat(guard.tryAccount("p")).isZero();
    assertThat(guard.tryAccount("p")).isPositive();
    pass(Duration.ofMinutes(10));
    assertThat(guard.tryAccount("p")).isZero();
  }

  @Test
  void wrongPasswordsAreForgottenByHalves() {
    fail(16, "p", "ann");
    pass(Duration.ofMinutes(1));
    fail(2, "p", "ann"); // 8 are left, and 2
    assertThat(guard.pauseBefore("p", "ann")).isZero();
    guard.failed("p", "ann");
    assertThat(guard.pauseBefore("p", "ann")).isEqualTo(Duration.ofSeconds(1));
  }
}
