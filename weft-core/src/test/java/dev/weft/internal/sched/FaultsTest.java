package dev.weft.internal.sched;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.ForkedJvm;
import dev.weft.testkit.Command;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A fault of Weft's fails the test that has caused it, also if it is noticed late or elsewhere. */
class FaultsTest {
  @Test
  void aFaultThatIsNoticedAfterATestFailsThatTest() {
    assertThatThrownBy(() -> run(FaultyPrograms.Late.class))
        .hasMessageContaining("slept although fibers were ready")
        .hasMessageContaining("failed: losesAWakeUp()")
        .hasMessageContaining("1 faults of its own, see the log; in or before losesAWakeUp()");
  }

  @Test
  void aFaultThatIsNoticedAfterTheLastTestFailsTheRun() {
    assertThatThrownBy(() -> run(FaultyPrograms.AfterAllTests.class))
        .hasMessageContaining("failed: JUnit Jupiter")
        .hasMessageContaining("1 faults of its own, see the log; after the last test");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aFaultInAnotherJvmFailsTheTestThatStartedIt(boolean command) {
    String[] arguments = arguments();
    assertThatThrownBy(
            () -> {
              if (command) {
                Command.java(arguments).run();
              } else {
                List<String> words =
                    new ArrayList<>(List.of("-cp", System.getProperty("java.class.path")));
                words.addAll(List.of(arguments));
                ForkedJvm.java(words.toArray(String[]::new));
              }
            })
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("a fault of Weft's, please report it: made up");
  }

  private static void run(Class<?> tests) throws Exception {
    Command.java(arguments(tests.getName())).run();
  }

  private static String[] arguments(String... names) {
    List<String> words = new ArrayList<>(List.of(ForkedJvm.weftArgs()));
    words.add("-Dweft.root=" + System.getProperty("weft.root"));
    words.add(FaultyPrograms.class.getName());
    words.addAll(List.of(names));
    return words.toArray(String[]::new);
  }
}
