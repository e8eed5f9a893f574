package dev.weft.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.weft.testkit.Feature;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code -Dweft.hook} can say. */
@Feature("H6")
class HookFamiliesTest {
  @Test
  void offIsNoneAndNothingIsAll() {
    assertThat(HookFamilies.parse("off")).isEqualTo(new HookFamilies(false, false, false));
    assertThat(HookFamilies.parse(null)).isEqualTo(new HookFamilies(true, true, true));
  }

  @Test
  void familiesAreListed() {
    assertThat(HookFamilies.parse("timers")).isEqualTo(new HookFamilies(true, false, false));
    assertThat(HookFamilies.parse("sockets")).isEqualTo(new HookFamilies(false, true, false));
    assertThat(HookFamilies.parse("names")).isEqualTo(new HookFamilies(false, false, true));
    assertThat(HookFamilies.parse("names, timers")).isEqualTo(new HookFamilies(true, false, true));
    assertThat(HookFamilies.parse("timers,sockets,names"))
        .isEqualTo(new HookFamilies(true, true, true));
  }

  @ParameterizedTest
  @ValueSource(strings = {"foo", "", "off,timers", "timers,", "OFF", "timers;names"})
  void anythingElseIsRefused(String value) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> HookFamilies.parse(value))
        .withMessage(
            "-Dweft.hook must be off or some of timers,sockets,names, not '" + value + "'");
  }
}
