package dev.weft.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.weft.testkit.Command;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A built checkout of root's, which another user runs and cannot write. */
@Timeout(60)
class OtherUserTest {
  private static final String NOBODY = "nobody";

  @TempDir private Path machine;

  private Path checkout;
  private Path home;

  @BeforeAll
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  static void build() throws Exception {
    assumeTrue(System.getProperty("user.name").equals("root"), "only root can be another user");
    Script.weft("run", "examples/Hello.java").in(Script.ROOT).run();
  }

  @BeforeEach
  void layOut() throws Exception {
    Files.setPosixFilePermissions(machine, PosixFilePermissions.fromString("rwxr-xr-x"));
    checkout = Files.createDirectory(machine.resolve("checkout"));
    Clones.copy(
        checkout,
        "weft-core/src/main",
        "weft-http/src/main",
        "weft-sim/src/main",
        "weft-console/src/main",
        "weft-cli/src/main",
        "target/launch/weft-cli");
    Files.createFile(checkout.resolve("target/launch/weft-cli.built")); // newer than all sources

    home = Files.createDirectory(machine.resolve("home"));
    var users = home.getFileSystem().getUserPrincipalLookupService();
    Files.setOwner(home, users.lookupPrincipalByName(NOBODY));
  }

  private Command asNobody(String... arguments) {
    List<String> words =
        new ArrayList<>(List.of("setpriv", "--reuid=" + NOBODY, "--regid=65534", "--clear-groups"));
    words.add(checkout.resolve("weft").toString());
    words.addAll(List.of(arguments));
    return Command.of(words.toArray(String[]::new))
        .in(home)
        .with("HOME", home.toString())
        .with("JAVA_HOME", System.getProperty("java.home"))
        .without("XDG_CACHE_HOME")
        .without("CLASSPATH")
        .without("JDK_JAVA_OPTIONS")
        .without("JAVA_TOOL_OPTIONS");
  }

  @Test
  void theLauncherRunsProgramsAndKeepsTheUsersFilesInTheUsersHome() throws Exception {
    String output = Files.readString(Script.ROOT.resolve("examples/Hello.out"));
    Command hello = asNobody("run", checkout.resolve("examples/Hello.java").toString());

    assertThat(hello.run()).isEqualTo(new Command.Result(0, output, ""));

    try (Stream<Path> kept = Files.walk(home.resolve(".cache/weft"))) {
      assertThat(kept.filter(Files::isRegularFile))
          .isNotEmpty()
          .allSatisfy(file -> assertThat(Files.getOwner(file)).hasToString(NOBODY));
    }
    assertThat(hello.run()).isEqualTo(new Command.Result(0, output, ""));
  }

  @Test
  void theCheckoutIsNotBuiltByTheOtherUser() throws Exception {
    Path source = checkout.resolve("weft-core/src/main/java/dev/weft/Weft.java");
    Files.setLastModifiedTime(
        source, FileTime.fromMillis(System.currentTimeMillis() + TimeUnit.HOURS.toMillis(1)));

    assertThat(asNobody("run", checkout.resolve("examples/Hello.java").toString()).run())
        .isEqualTo(
            new Command.Result(
                1,
                "",
                "weft: cannot build: %s/target/launch cannot be written; use a clone of your own\n"
                    .formatted(checkout)));
  }
}
