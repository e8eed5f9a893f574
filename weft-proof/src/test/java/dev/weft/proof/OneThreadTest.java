package dev.weft.proof;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.Fiber;
import dev.weft.Hook;
import dev.weft.testkit.Feature;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** The proof can fail, and the hook is on or off as the run says. */
@Feature("H8")
class OneThreadTest {
  @Test
  void theHookIsInPlaceUnlessItIsOff() {
    boolean off = "off".equals(System.getProperty("weft.hook"));
    try (OneThread _ = new OneThread()) {
      assertThat(Hook.isInstalled(Hook.Family.SOCKETS)).isEqualTo(!off);
      assertThat(Hook.isInstalled(Hook.Family.TIMERS)).isEqualTo(!off);
    }
  }

  @Test
  void aFiberThatHoldsTheThreadIsDetected() throws Exception {
    AtomicBoolean over = new AtomicBoolean();
    OneThread one = new OneThread();
    one.hasFreeThread();
    Fiber<String> hog =
        one.go(
            () -> {
              while (!over.get()) {
                Thread.onSpinWait();
              }
              return "done";
            });
    one.eventually("it is reported", () -> !one.reports().isEmpty());
    assertThat(one.reports()).singleElement().asString().contains("has held thread 0");
    over.set(true);
    assertThat(OneThread.join(hog)).isEqualTo("done");
    assertThatThrownBy(one::close).isInstanceOf(AssertionError.class).hasMessageContaining("held");
  }
}
