package dev.weft;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.weft.channel.Channel;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

/** A test as a user's project has it; {@link NoFlagsTest} runs it by a Surefire of its own. */
class UserProjectCase {
  @Test
  void usesWeft() throws Exception {
    assertTrue(
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .noneMatch(flag -> flag.contains("add-opens") || flag.contains("native-access")));
    Channel<Integer> channel = Channel.rendezvous();
    Weft.run(
        () -> {
          Weft.go(() -> channel.send(7));
          assertEquals(7, channel.receive());
        });
  }
}
