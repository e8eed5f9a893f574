package dev.weft.im;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What clients may send over TCP, well or ill. */
@Feature("A4")
class ImLinesTest {
  private ImServer server;

  @BeforeEach
  void start() throws Exception {
    server = ImServer.builder().build().start();
  }

  @AfterEach
  void stop() {
    server.stop();
  }

  @Test
  void linesEndWithLfOrCrLf() throws Exception {
    try (ImClient client = ImClient.connect(server)) {
      client.sendRaw("PING 1\r\nPING 2\nPI".getBytes(UTF_8));
      assertThat(client.answer()).isEqualTo("OK PING 1");
      assertThat(client.answer()).isEqualTo("OK PING 2");
      client.sendRaw("NG ä".getBytes(UTF_8));
      client.sendRaw("\n\n\r\n".getBytes(UTF_8));
      assertThat(client.answer()).isEqualTo("OK PING ä");
      assertThat(client.answer()).startsWith("ERR syntax ");
      assertThat(client.answer()).startsWith("ERR syntax ");
    }
  }

  @Test
  void aLineThatIsTooLongIsRefusedAndTheNextIsServed() throws Exception {
    try (ImClient client = ImClient.connect(server)) {
      for (int length : new int[] {8193, 8194, 8195, 9000, 100_000, 3_000_000}) {
        client.sendRaw(("P".repeat(length) + "\r\nPING\n").getBytes(UTF_8));
        assertThat(client.answer()).startsWith("ERR limit a line must have at most 8192 bytes");
        assertThat(client.answer()).isEqualTo("OK PING");
      }
      client.sendRaw(("P".repeat(8192) + "\r\n").getBytes(UTF_8));
      assertThat(client.answer()).startsWith("ERR syntax ");
      String text = "ä".repeat(4093); // 8191 bytes with the command
      assertThat(client.ask("PING " + text)).isEqualTo("OK PING " + text);
    }
  }

  @Test
  void bytesThatAreNoTextAreRefused() throws Exception {
    try (ImClient client = ImClient.connect(server)) {
      client.sendRaw(new byte[] {'P', 'I', 'N', 'G', ' ', (byte) 0xC0, (byte) 0x80, '\n'});
      assertThat(client.answer()).isEqualTo("ERR syntax a line must be UTF-8");
      client.sendRaw(new byte[] {'P', 'I', 'N', 'G', ' ', 7, '\n'});
      assertThat(client.answer()).startsWith("ERR syntax a line must have no control characters");
    }
  }

  @Test
  void randomBytesDoNoHarm() throws Exception {
    Random random = new Random(44);
    for (int round = 0; round < 20; round++) {
      try (ImClient client = ImClient.connect(server)) {
        byte[] bytes = new byte[20_000];
        random.nextBytes(bytes);
        int lines = 1;
        for (int i = 0; i < bytes.length; i++) {
          if (bytes[i] == '\n') {
            lines++;
          }
        }
        client.sendRaw(bytes);
        client.sendRaw("\nPING still there\n".getBytes(UTF_8));
        for (int i = 0; i < lines; i++) {
          assertThat(client.answer()).matches("ERR (syntax|limit) .*");
        }
        assertThat(client.answer()).isEqualTo("OK PING still there");
      }
    }
  }

  @Test
  void answersComeInTheOrderOfTheCommands() throws Exception {
    try (ImClient ann = ImClient.register(server, "ann")) {
      ann.sendRaw(
          "JOIN a\nSAY a 1\nNONSENSE\nHISTORY a\nTELL ann 2\nROOMS\nPING\n".getBytes(UTF_8));
      assertThat(ann.answer()).isEqualTo("OK JOIN a");
      assertThat(ann.answer()).isEqualTo("OK SAY 1");
      assertThat(ann.answer()).startsWith("ERR syntax ");
      assertThat(ann.answer()).isEqualTo("OK HISTORY 1");
      assertThat(ann.answer()).endsWith(" a ann 1");
      assertThat(ann.answer()).isEqualTo("OK TELL 2");
      assertThat(ann.answer()).isEqualTo("OK ROOMS a");
      assertThat(ann.answer()).isEqualTo("OK PING");
    }
  }
}
