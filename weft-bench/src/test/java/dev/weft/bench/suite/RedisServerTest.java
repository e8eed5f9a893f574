package dev.weft.bench.suite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.bench.run.Probe;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** What is made of the words of {@code bin/servers}, and of its silence. */
@DisabledOnOs(OS.WINDOWS)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class RedisServerTest {
  private @TempDir Path root;

  @Test
  void theScriptSaysWhereItIsAndEndsWithItsInput() throws Exception {
    script("echo 'redis at redis://127.0.0.1:4711 (process 1)'", "cat", "touch \"$0.ended\"");
    try (RedisServer server = RedisServer.start(root)) {
      assertThat(server.url()).isEqualTo(URI.create("redis://127.0.0.1:4711"));
    }
    assertThat(root.resolve("bin/servers.ended")).exists();
  }

  @Test
  void aMachineWithoutRedisIsToldHowToGetIt() throws IOException {
    script("exit 3");
    assertThatThrownBy(() -> RedisServer.start(root))
        .isInstanceOf(Probe.Impossible.class)
        .hasMessageContaining("bin/servers install");
  }

  @Test
  void aPlaceWithoutTheScriptIsNotTheRepository() {
    assertThatThrownBy(() -> RedisServer.start(root))
        .isInstanceOf(Probe.Impossible.class)
        .hasMessageContaining("start in the repository's root");
  }

  private void script(String... lines) throws IOException {
    Path file = Files.createDirectories(root.resolve("bin")).resolve("servers");
    Files.writeString(file, "#!/bin/sh\n" + String.join("\n", lines) + "\n");
    assertThat(file.toFile().setExecutable(true)).isTrue();
  }
}
