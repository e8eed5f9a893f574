package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A refusal says what was wrong. Other tests check which thread may call what, and when. */
class SchedulerBadInputTest {
  @Test
  @Feature("S2")
  void theBuilderStatesItsRules() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Scheduler.builder().threads(0))
        .withMessage("threads must be 1 or more, not 0");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Scheduler.builder().threads(-3))
        .withMessage("threads must be 1 or more, not -3");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Scheduler.builder().stackSize(-1))
        .withMessage("stackSize must be 0 or more, not -1");
    for (Duration none : new Duration[] {Duration.ZERO, Duration.ofMillis(-1)}) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> Scheduler.builder().blockedAfter(none))
          .withMessage("blockedAfter must be positive, not " + none);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> Policy.timeSlice(none))
          .withMessage("slice must be positive, not " + none);
    }
    assertThatNullPointerException()
        .isThrownBy(() -> Scheduler.builder().name(null))
        .withMessage("name");
    assertThatNullPointerException()
        .isThrownBy(() -> Scheduler.builder().policy(null))
        .withMessage("policy");
    assertThatNullPointerException()
        .isThrownBy(() -> Scheduler.builder().onUncaught(null))
        .withMessage("handler");
    assertThatNullPointerException().isThrownBy(() -> FiberOptions.named(null)).withMessage("name");
  }

  private static final class Both implements Body, Callable<String> {
    private final AtomicInteger runs = new AtomicInteger();

    @Override
    public void run() {
      runs.incrementAndGet();
    }

    @Override
    public String call() {
      return "called";
    }
  }

  @Test
  @Feature("S2")
  void anObjectThatIsBodyAndCallableRunsAsItsParameterType() throws Exception {
    Both both = new Both();
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      assertThat((Object) scheduler.go((Body) both).join()).isNull();
      scheduler.go(FiberOptions.named("both"), (Body) both).join();
      assertThat(both.runs).hasValue(2);
      assertThat(scheduler.go((Callable<String>) both).join()).isEqualTo("called");
    }
  }

  @Test
  @Feature("S2")
  void aBuilderMayBeReusedAndDoesNotChangeWhatItHasBuilt() {
    Scheduler.Builder builder = Scheduler.builder().threads(2).name("first");
    Scheduler first = builder.build();
    Scheduler second = builder.threads(3).name("second").build();
    assertThat(first.threads()).isEqualTo(2);
    assertThat(first.name()).isEqualTo("first");
    assertThat(second.threads()).isEqualTo(3);
    assertThat(second.toString()).isEqualTo("scheduler second");
    String unnamed = Scheduler.builder().build().name();
    assertThat(unnamed).startsWith("weft-").isNotEqualTo(Scheduler.builder().build().name());
    assertThat(Scheduler.builder().build().threads())
        .isEqualTo(Runtime.getRuntime().availableProcessors());
  }

  @Test
  @Feature("S1")
  void nullIsRefusedAndChangesNoCount() throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      assertThatNullPointerException()
          .isThrownBy(() -> scheduler.go((Body) null))
          .withMessage("body");
      assertThatNullPointerException()
          .isThrownBy(() -> scheduler.go((Callable<String>) null))
          .withMessage("body");
      assertThatNullPointerException()
          .isThrownBy(() -> scheduler.go(FiberOptions.named("x"), (Body) null))
          .withMessage("body");
      assertThatNullPointerException().isThrownBy(() -> scheduler.go(null, () -> {}));
      assertThatNullPointerException()
          .isThrownBy(() -> scheduler.execute(null))
          .withMessage("command");
      assertThatNullPointerException().isThrownBy(() -> scheduler.schedule(null));
      assertThatNullPointerException().isThrownBy(() -> scheduler.stop(null)).withMessage("limit");
      Fiber<String> fiber =
          scheduler.go(
              () -> {
                assertThatNullPointerException().isThrownBy(() -> Fiber.switchTo(null));
                assertThatNullPointerException().isThrownBy(() -> Fiber.sleep(null));
                return null; // a result may be null
              });
      assertThat(fiber.join()).isNull();
      Fiber<Void> waiting = scheduler.go(() -> Fiber.suspend());
      assertThatNullPointerException().isThrownBy(() -> waiting.join(null)).withMessage("limit");
      scheduler.schedule(waiting);
      waiting.join();
      assertThat(scheduler.stats().begun()).isEqualTo(2);
    }
  }
}
