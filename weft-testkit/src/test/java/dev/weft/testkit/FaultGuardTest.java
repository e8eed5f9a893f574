package dev.weft.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.invoke.MethodType;
import org.junit.jupiter.api.Test;

/** How the guard finds the counter of faults; that it fails tests is tested beside the counter. */
class FaultGuardTest {
  private static final MethodType LONG = MethodType.methodType(long.class);

  @Test
  void withoutTheClassThereAreNoFaults() throws Throwable {
    assertThat((long) FaultGuard.find("dev.weft.NoSuchClass", "count", LONG).invokeExact())
        .isZero();
  }

  @Test
  void aMethodThatIsNotThereIsNotTakenForNoFaults() {
    assertThatIllegalStateException()
        .isThrownBy(() -> FaultGuard.find("java.lang.System", "count", LONG))
        .withMessage("cannot find count()long in java.lang.System: adapt FaultGuard");
  }
}
