package dev.weft.proof;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.Fiber;
import dev.weft.testkit.Feature;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** That the proof can fail: what blocks the thread is found out. */
@Feature("H8")
class OneThreadTest {
  @Test
  void aFiberThatHoldsTheThreadIsFoundOut() throws Exception {
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
