package dev.weft.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Command;
import dev.weft.testkit.Feature;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The JDK's own web server, which takes Weft's provider, in a JVM without Weft's flags. */
@Feature("P1")
class MissingFlagsTest {
  @Test
  void theServerOfTheJdkServesWithoutFlags(@TempDir Path folder) throws Exception {
    Files.writeString(folder.resolve("hello.txt"), "hello");
    Process server =
        Command.java("-m", "jdk.httpserver", "-p", "0", "-d", folder.toRealPath().toString())
            .start();
    try (BufferedReader out = server.inputReader()) {
      String address = addressIn(out);
      try (HttpClient client = HttpClient.newHttpClient()) {
        HttpRequest request = HttpRequest.newBuilder(URI.create(address + "hello.txt")).build();
        assertThat(client.send(request, HttpResponse.BodyHandlers.ofString()).body())
            .isEqualTo("hello");
      }
    } finally {
      server.destroyForcibly();
    }
  }

  private static String addressIn(BufferedReader out) throws IOException {
    Pattern address = Pattern.compile("URL (http://\\S*)");
    while (true) {
      String line = out.readLine();
      assertThat(line).as("a line with the address").isNotNull();
      Matcher found = address.matcher(line);
      if (found.find()) {
        return found.group(1);
      }
    }
  }

  @Test
  void aServerThatMayNotOpenPackagesSaysWhichFlagsToAdd() throws Exception {
    Command.Result result =
        Command.java("-Dweft.open=flags", "-m", "jdk.httpserver", "-p", "0").run();
    assertThat(result.exitStatus()).isNotZero();
    assertThat(result.stdout() + result.stderr())
        .contains("server config failed: Weft, on the class path, needs flags")
        .contains("--add-opens=java.base/sun.nio.ch=ALL-UNNAMED");
  }
}
