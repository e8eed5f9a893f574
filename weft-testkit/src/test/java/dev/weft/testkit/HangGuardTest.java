package dev.weft.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HangGuardTest {
  @Test
  void aHangingTestFailsAndShowsAllThreads() throws Exception {
    var result = run(HiddenTests.Hangs.class);

    assertThat(result.stderr())
        .contains(HiddenTests.Hangs.class.getName() + " hangs() is over its time limit")
        .contains("HiddenTests$Hangs.hangs")
        .contains("virtual-hanger")
        .contains("HiddenTests$Hangs.waitForEver");
    assertThat(result.stdout()).contains("failed: 1");
    assertThat(result.exitStatus()).isZero();
  }

  @Test
  void aTestThatIgnoresItsInterruptEndsTheJvm() throws Exception {
    var result = run(HiddenTests.HangsHard.class);

    assertThat(result.exitStatus()).isEqualTo(HangGuard.EXIT_STATUS);
    assertThat(result.stderr())
        .contains("ignoresInterrupts() did not heed its interrupt for 1 s: ending the JVM");
  }

  private static Command.Result run(Class<?> tests) throws Exception {
    return Command.java("-Dweft.test.grace=1", HiddenTests.class.getName(), tests.getName()).run();
  }
}
