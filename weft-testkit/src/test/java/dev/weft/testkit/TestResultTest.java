package dev.weft.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.testkit.TestResult.Outcome;
import java.util.List;
import org.junit.jupiter.api.Test;

class TestResultTest {
  @Test
  void aLineReadsBackUnchanged() {
    var result = new TestResult(List.of("C1", "C2"), "a.BTest.c[1]", Outcome.FAILED, "no");

    assertThat(TestResult.parse(result.line())).isEqualTo(result);
  }

  @Test
  void tabsAndLineBreaksBecomeSpaces() {
    var result = new TestResult(List.of(), "a.BTest.c[x\ty]", Outcome.FAILED, "expected\n  1\n");

    assertThat(result.line()).isEqualTo("\ta.BTest.c[x y]\tFAILED\texpected 1");
  }

  @Test
  void theMethodIsTheTestWithoutItsInvocation() {
    var result = new TestResult(List.of(), "a.BTest.c[[2] x]", Outcome.PASSED, "");

    assertThat(result.method()).isEqualTo("a.BTest.c");
  }

  @Test
  void anInvalidLineIsRefused() {
    assertThatThrownBy(() -> TestResult.parse("C1 PASSED"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("not a test result: C1 PASSED");
  }
}
