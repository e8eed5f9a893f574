package dev.weft.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.weft.testkit.Command;
import dev.weft.testkit.Feature;
import java.io.BufferedReader;
import java.io.InputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code ./weft ps}, {@code dump}, {@code leaks} and {@code top --once}, on other processes. */
@Feature("O1")
@Timeout(60)
class OperateTest {
  private static Process victim;
  private static String pid;

  @BeforeAll
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  static void start() throws Exception {
    Script.weft("run", "examples/Hello.java").in(Script.ROOT).run();
    victim = Victim.start();
    pid = "" + victim.pid();
  }

  @AfterAll
  static void end() {
    victim.destroyForcibly();
  }

  private static Command.Result weft(String... words) throws Exception {
    return Script.weft(words).run();
  }

  @Test
  void aDumpOfAProgramThatWasStartedWithPlainJava() throws Exception {
    Command.Result result = weft("dump", pid);
    assertThat(result.stderr()).isEmpty();
    assertThat(result.exitStatus()).isZero();
    assertThat(result.stdout())
        .startsWith("scheduler victim: 11 fibers on 1 thread: ")
        .contains("10 fibers wait for a value from channel ")
        .contains("    at dev.weft.cli.Victim.");
    assertThat(weft("dump", pid, "--json").stdout())
        .startsWith("[{\"scheduler\":\"victim\",\"fibers\":11,");
    assertThat(weft("dump", "--full", pid).stdout().lines())
        .filteredOn(line -> line.contains("(receiver) WAITING"))
        .hasSize(10);
  }

  @Test
  void topOnceIsAPage() throws Exception {
    Command.Result result = weft("top", pid, "--once");
    assertThat(result.stderr()).isEmpty();
    assertThat(result.exitStatus()).isZero();
    assertThat(result.stdout().lines().toList())
        .anyMatch(line -> line.matches("process " + pid + "  CPU \\d+ %  descriptors .*"))
        .anyMatch(line -> line.matches("scheduler victim  11 fibers: .*"))
        .anyMatch(line -> line.matches(" +0 +\\d+% +[\\d,]+ .*"))
        .anyMatch(line -> line.matches(" +11  .* [1-9]\\d?% .* burner .*Victim\\.burn.*"));
  }

  @Test
  void leaksTellThatThereIsNone() throws Exception {
    Command.Result result = weft("leaks", pid);
    assertThat(result.exitStatus()).as(result.stderr()).isZero();
    assertThat(result.stdout()).startsWith("no fiber is leaked");
  }

  @Test
  void theProcessesThatUseWeftAreListed() throws Exception {
    String line = " *" + pid + " +\\S+ +\\d+ (s|min) +dev\\.weft\\.cli\\.Victim";
    assertThat(weft("ps").stdout().lines()).anyMatch(found -> found.matches(line));
    Command.Result asked = weft("dump");
    assertThat(asked.exitStatus()).isEqualTo(2);
    assertThat(asked.stderr().lines().toList())
        .startsWith("weft: which process? usage: ./weft dump PID [--full] [--json]")
        .anyMatch(found -> found.matches(line));
  }

  /** Each user of the machine chooses the words of its processes. */
  @Test
  void theWordsOfAProcessCommandNoTerminal() throws Exception {
    Process other =
        Command.java(Victim.class.getName(), "\u001b]0;owned\u0007\nnext").startWithErrors();
    try {
      assertThat(other.inputReader().readLine()).isEqualTo("ready");
      for (String shown : List.of(weft("ps").stdout(), weft("dump").stderr())) {
        assertThat(shown)
            .contains("dev.weft.cli.Victim  ]0;owned  next")
            .doesNotContain("\u001b", "\u0007");
      }
    } finally {
      other.destroyForcibly();
    }
  }

  @Test
  void mistakesGetOneLine() throws Exception {
    assertMistake(2, "unknown option --all; usage: ./weft leaks PID [--json]", "leaks", "--all");
    assertMistake(2, "unexpected argument 2; usage: ./weft top PID [--once]", "top", "1", "2");
    assertMistake(2, "the process must be named by its number, not by 'java'", "dump", "java");
  }

  private static void assertMistake(int status, String message, String... words) throws Exception {
    Command.Result result = weft(words);
    assertThat(result.stderr()).startsWith("weft: " + message);
    assertThat(result.stderr().lines()).hasSize(1);
    assertThat(result.stdout()).isEmpty();
    assertThat(result.exitStatus()).isEqualTo(status);
  }

  @Test
  void aProcessWithoutWeftOrThatHasEndedIsSaidToBeThat() throws Exception {
    Process other = Command.of("sleep", "100").start();
    String number = "" + other.pid();
    assertMistake(1, "process " + number + " does not use Weft: no scheduler", "dump", number);
    other.destroyForcibly().waitFor();
    assertMistake(1, "there is no process " + number + "; ./weft ps lists", "dump", number);
  }

  @Test
  void aProcessThatDoesNotAnswerIsGivenUp() throws Exception {
    Process silent = Victim.start("-Dweft.attach=off");
    try {
      String number = "" + silent.pid();
      assertMistake(
          1,
          "process %s has not answered for 5 s: it has no scheduler that runs, or was started with"
              .formatted(number),
          "dump",
          number);
      Command.of("kill", "-STOP", number).run();
      assertMistake(
          1, "process " + number + " has not answered for 5 s: it is stopped;", "dump", number);
      assertThat(Path.of("/tmp/.weft_pid" + number)).doesNotExist();
    } finally {
      silent.destroyForcibly();
    }
  }

  @Test
  void filesThatAKilledProcessLeftAreDeleted() throws Exception {
    Process killed = Victim.start();
    Path folder = Path.of("/tmp/.weft_pid" + killed.pid());
    killed.destroyForcibly().waitFor();
    Files.createDirectory(folder);
    Files.createFile(folder.resolve("socket"));
    assertThat(weft("dump", pid).exitStatus()).isZero();
    assertThat(folder).doesNotExist();
  }

  @Test
  void aFolderThatOthersMayEnterIsNotUsed() throws Exception {
    Process other = Victim.start("-Dweft.attach=off"); // it does not delete the folder
    Path folder = Path.of("/tmp/.weft_pid" + other.pid());
    Files.createDirectory(
        folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
    try {
      assertMistake(
          1,
          "cannot ask process %d safely: %s exists, and is no folder of "
              .formatted(other.pid(), folder),
          "dump",
          "" + other.pid());
    } finally {
      Files.delete(folder);
      other.destroyForcibly();
    }
  }

  @Test
  void aFolderOfAnotherUserIsNotUsed() throws Exception {
    assumeTrue(System.getProperty("user.name").equals("root"), "only root can give folders away");
    Process other = Victim.start("-Dweft.attach=off");
    Path folder = Path.of("/tmp/.weft_pid" + other.pid());
    Path made = Files.createTempDirectory("weft-operate-test-"); // with rwx------
    Files.setOwner(
        made, made.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("nobody"));
    Files.move(made, folder);
    try {
      // the answers of another user's process, with what they do to a terminal
      try (ServerSocketChannel forged = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
        forged.bind(UnixDomainSocketAddress.of(folder.resolve("socket")));
        assertMistake(
            1, "cannot ask process " + other.pid() + " safely: ", "dump", "" + other.pid());
      }
    } finally {
      Files.delete(folder.resolve("socket"));
      Files.delete(folder);
      other.destroyForcibly();
    }
  }

  // ---- a socket in place of the process's

  /** What a test puts where the process would answer. */
  private interface Forger {
    void serve(ServerSocketChannel socket, Path address) throws Exception;
  }

  /** Asks a process that does not answer itself for a dump, while the forger does. */
  private static Command.Result dumpOf(Process silent, Forger forger) throws Exception {
    Path folder = Path.of("/tmp/.weft_pid" + silent.pid());
    Files.createDirectory(
        folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    Path address = folder.resolve("socket");
    try (ServerSocketChannel socket = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        ExecutorService thread = Executors.newSingleThreadExecutor()) {
      socket.bind(UnixDomainSocketAddress.of(address));
      Future<?> served =
          thread.submit(
              () -> {
                forger.serve(socket, address);
                return null;
              });
      Command.Result result = weft("dump", "" + silent.pid());
      served.get();
      return result;
    } finally {
      Files.deleteIfExists(address);
      Files.deleteIfExists(folder);
      silent.destroyForcibly();
    }
  }

  private static void send(SocketChannel client, String text) throws Exception {
    client.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.ISO_8859_1)));
  }

  private static void readLine(SocketChannel client) throws Exception {
    InputStream in = Channels.newInputStream(client);
    while (in.read() != '\n') {
      // the request
    }
  }

  @Test
  void aGreetingCommandsNoTerminal() throws Exception {
    Command.Result result =
        dumpOf(
            Victim.start("-Dweft.attach=off"),
            (socket, _) -> {
              try (SocketChannel client = socket.accept()) {
                send(client, "weft \u001b]0;owned\u0007\u009b2J\n");
              }
            });
    assertThat(result.stderr())
        .contains("has another version of Weft, with the protocol 'weft  ]0;owned  2J'")
        .doesNotContain("\u001b", "\u0007", "\u009b");
    assertThat(result.exitStatus()).isEqualTo(1);
  }

  /** The process closes its socket half a second after the last look. */
  @Test
  void aSocketThatIsClosedJustThenIsTriedAgain() throws Exception {
    Command.Result result =
        dumpOf(
            Victim.start("-Dweft.attach=off"),
            (socket, address) -> {
              try (Selector selector = Selector.open()) {
                socket.configureBlocking(false);
                socket.register(selector, SelectionKey.OP_ACCEPT);
                selector.select(); // a connection waits to be accepted
              }
              Files.delete(address);
              socket.close();
              try (ServerSocketChannel next =
                  ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
                next.bind(UnixDomainSocketAddress.of(address));
                try (SocketChannel client = next.accept()) {
                  send(client, "weft 1\n");
                  readLine(client);
                  send(client, "\0\0\0\005done\n\0\0\0\0");
                }
              }
            });
    assertThat(result.stderr()).isEmpty();
    assertThat(result.stdout()).isEqualTo("done\n");
  }

  @Test
  void aProcessThatIsStoppedWhileItAnswersIsGivenUp() throws Exception {
    Process silent = Victim.start("-Dweft.attach=off");
    Command.Result result =
        dumpOf(
            silent,
            (socket, _) -> {
              try (SocketChannel client = socket.accept()) {
                send(client, "weft 1\n");
                readLine(client);
                send(client, "\0\0\0\005some\n"); // no end
                Command.of("kill", "-STOP", "" + silent.pid()).run();
                assertThat(client.read(ByteBuffer.allocate(1))).as("the end").isEqualTo(-1);
              }
            });
    assertThat(result.stderr())
        .startsWith("weft: process " + silent.pid() + " has not answered for 5 s: it is stopped;");
    assertThat(result.exitStatus()).isEqualTo(1);
  }

  // ---- other users

  @Test
  void aFolderIsGivenAwayWithoutFollowingALink(@TempDir Path folder) throws Exception {
    assumeTrue(System.getProperty("user.name").equals("root"), "only root can give files away");
    Path target = Files.createDirectory(folder.resolve("outside the container"));
    Path swapped = Files.createSymbolicLink(folder.resolve("asks"), target);
    UserPrincipal root = Files.getOwner(target);
    UserPrincipal nobody =
        folder.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("nobody");
    AskFolder.give(swapped, nobody);
    assertThat(Files.getOwner(target)).isEqualTo(root);
    assertThat(Files.getOwner(swapped, LinkOption.NOFOLLOW_LINKS)).isEqualTo(nobody);
  }

  @Test
  void aFolderOfAContainerInWhichUsersReplaceFilesIsRefused(@TempDir Path folder) throws Exception {
    assumeTrue(System.getProperty("user.name").equals("root"), "only root can give files away");
    Path tmp = Files.createDirectory(folder.resolve("tmp"));
    AskFolder.checkForeign(tmp); // of root alone
    Files.setAttribute(tmp, "unix:mode", 0777);
    assertThatIOException()
        .isThrownBy(() -> AskFolder.checkForeign(tmp))
        .withMessageContaining("is not sticky");
    Files.setAttribute(tmp, "unix:mode", 01777);
    AskFolder.checkForeign(tmp);
    Path link = Files.createSymbolicLink(folder.resolve("link"), tmp);
    assertThatIOException()
        .isThrownBy(() -> AskFolder.checkForeign(link))
        .withMessageContaining("is a link");
  }

  /** The process may not even look into the folder. */
  @Test
  void aFolderOfAnotherUserIsRefusedByTheProcessThatIsAsked(@TempDir Path folder) throws Exception {
    Process echo = asNobody(jars(folder), "dev.weft.cli.Echo", "--port", "0").startWithErrors();
    Path asked = Path.of("/tmp/.weft_pid" + echo.pid());
    try (BufferedReader out = echo.inputReader();
        BufferedReader errors = echo.errorReader()) {
      assertThat(out.readLine()).startsWith("echo: TCP port ");
      Files.createDirectory(
          asked,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      String line = errors.readLine();
      while (!line.contains("is refused")) {
        line = errors.readLine();
      }
      assertThat(line).endsWith(asked + " belongs to another user, root");
    } finally {
      Files.deleteIfExists(asked);
      echo.destroyForcibly();
    }
  }

  /** Copies the jars of Weft where each user may read them. */
  private static String jars(Path folder) throws Exception {
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    List<String> jars = new ArrayList<>();
    try (Stream<Path> built = Files.list(Script.ROOT.resolve("target/launch/weft-cli"))) {
      for (Path jar : built.filter(file -> file.toString().endsWith(".jar")).toList()) {
        jars.add(Files.copy(jar, folder.resolve(jar.getFileName())).toString());
      }
    }
    return String.join(":", jars);
  }

  /** A command of nobody's; only root can give one. */
  private static Command asNobody(String classPath, String... words) {
    assumeTrue(System.getProperty("user.name").equals("root"), "only root can be another user");
    List<String> all =
        new ArrayList<>(List.of("setpriv", "--reuid=nobody", "--regid=65534", "--clear-groups"));
    all.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    all.addAll(List.of("-cp", classPath));
    all.addAll(List.of(words));
    return Command.of(all.toArray(String[]::new)).in(Path.of("/"));
  }

  @Test
  void anotherUserIsRefused(@TempDir Path folder) throws Exception {
    Command.Result result = asNobody(jars(folder), "dev.weft.cli.Operate", "dump", pid).run();
    assertThat(result.stderr())
        .isEqualTo(
            "weft: you, nobody, may not look into process %s: it belongs to root; run ./weft dump as root\n"
                .formatted(pid));
    assertThat(result.exitStatus()).isEqualTo(1);
  }

  @Test
  void rootMayLookIntoAProcessOfAnotherUser(@TempDir Path folder) throws Exception {
    Process echo = asNobody(jars(folder), "dev.weft.cli.Echo", "--port", "0").startWithErrors();
    try (BufferedReader out = echo.inputReader()) {
      assertThat(out.readLine()).startsWith("echo: TCP port ");
      Command.Result result = weft("dump", "" + echo.pid());
      assertThat(result.stderr()).isEmpty();
      assertThat(result.stdout()).startsWith("scheduler echo: 1 fiber on ");
    } finally {
      echo.destroyForcibly();
    }
  }

  /** A process with a number and a /tmp of its own, as in a container. */
  @Test
  void aProcessInAContainerIsAskedFromOutside(@TempDir Path folder) throws Exception {
    assumeTrue(
        Command.of("unshare", "--pid", "--mount", "--fork", "true").run().exitStatus() == 0,
        "only root can make namespaces");
    jars(folder);
    String inside =
        "mount --bind '%s' /mnt && mount -t tmpfs tmpfs /tmp && cd / && exec '%s/bin/java' -cp '/mnt/*' dev.weft.cli.Echo --port 0"
            .formatted(folder, System.getProperty("java.home"));
    Process container =
        Command.of("unshare", "--pid", "--mount", "--fork", "--mount-proc", "sh", "-c", inside)
            .startWithErrors();
    try (BufferedReader out = container.inputReader()) {
      assertThat(out.readLine()).startsWith("echo: TCP port ");
      ProcessHandle echo =
          container.descendants().filter(p -> WeftProcesses.usesWeft(p.pid())).findFirst().get();
      Command.Result result = weft("dump", "" + echo.pid());
      assertThat(result.stderr()).isEmpty();
      assertThat(result.stdout()).startsWith("scheduler echo: 1 fiber on ");
    } finally {
      container.descendants().forEach(ProcessHandle::destroyForcibly);
      container.destroyForcibly();
    }
  }
}
