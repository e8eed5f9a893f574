package dev.weft.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The name of the program, which is the title of the page. */
@Feature("O3")
class ProcessNumbersTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "Sick stuck                                                            | Sick",
        "shop.Main --port 80                                                   | Main",
        "shop/shop.web.Main a.b/c                                              | Main",
        "/opt/shop/shop-1.2.jar --port 80                                      | shop-1.2.jar",
        "C:\\shop\\shop.jar                                                | shop.jar",
        "jdk.compiler/com.sun.tools.javac.launcher.SourceLauncher a/Sick.java x | Sick.java",
        "''                                                                    | ''",
      })
  void theProgramIsNamed(String command, String program) {
    assertThat(ProcessNumbers.program(command)).isEqualTo(program);
  }
}
