package dev.weft.im;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Command;
import dev.weft.testkit.Feature;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The server as a program. */
@Feature("A4")
class ImMainTest {
  @TempDir Path folder;

  @Test
  void theServerSaysByeWhenItIsTerminated() throws Exception {
    try (ServerNode node = ServerNode.start("jdbc:h2:" + folder.resolve("chat"));
        ImClient ann = ImClient.connect(node.address())) {
      assertThat(ann.ask("REGISTER ann " + ImClient.PASSWORD)).isEqualTo("OK REGISTER ann");
      ann.post("TELL ann 1");
      assertThat(ann.text()).isEqualTo("1");
      node.stop();
      assertThat(ann.event()).isEqualTo("BYE the server stops");
    }
    try (ImServer server =
            ImServer.builder().database("jdbc:h2:" + folder.resolve("chat")).build().start();
        ImClient ann = ImClient.login(server, "ann")) {
      assertThat(ann.eventsUntilNow()).isEmpty();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          2 | --line-port,1           | unknown option --line-port; usage: ./weft im
          2 | --port                  | option --port needs a value; usage: ./weft im
          2 | --port,x                | port must be a number from 0 to 65535, not x
          2 | --threads,0             | threads must be a number from 1 to 10000, not 0
          2 | --database,mysql        | a database must begin with jdbc:h2: or jdbc:postgresql:
          2 | --tls,no-such-file      | option --tls CERT needs a value
          2 | --tls,no-such-file,also | cannot read the certificate or its key
          2 | --connections,0         | connections must be a number from 1 to
          2 | --redis,localhost       | Redis must be redis://host:port, not localhost
          1 | --port,0,--database,jdbc:postgresql://127.0.0.1:1/x | cannot start: cannot open the database
          1 | --database,jdbc:h2:mem:x,--bind,192.0.2.1 | cannot start: cannot bind to
          """)
  void mistakesAreOneLine(int status, String arguments, String message) throws Exception {
    Command.Result result = run(arguments.split(",", -1));
    assertThat(result.exitStatus()).isEqualTo(status);
    assertThat(result.stdout()).isEmpty();
    assertThat(result.stderr()).startsWith("weft: " + message).hasLineCount(1);
  }

  private Command.Result run(String... arguments) throws Exception {
    List<String> words = new ArrayList<>();
    words.add("@" + Path.of(System.getProperty("weft.root"), "weft.args"));
    words.add("dev.weft.im.ImMain");
    words.addAll(List.of(arguments));
    return Command.java(words.toArray(String[]::new)).in(folder).run();
  }
}
