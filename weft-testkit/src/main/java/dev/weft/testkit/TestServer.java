package dev.weft.testkit;

import static org.assertj.core.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A server that {@code bin/servers} runs. It ends when it is closed, and also when this process
 * ends in whatever way: the script reads from a pipe that then breaks.
 */
public final class TestServer implements AutoCloseable {
  private static final Path SCRIPT = Path.of(System.getProperty("weft.root"), "bin", "servers");
  private static final Pattern READY = Pattern.compile("(\\S+) at (\\S+) \\(process ([0-9]+)\\)");

  /** The exit status of the script if the machine has no such server. */
  private static final int NOT_FOUND = 3;

  private final Process script;
  private final String url;
  private final ProcessHandle process;

  /**
   * Starts a server. If the machine has no such program, the test is skipped on a user's machine
   * and fails in CI.
   *
   * @param name {@code postgres}, {@code redis} or {@code chromedriver}
   */
  public static TestServer start(String name) throws IOException, InterruptedException {
    Process script = Command.of(SCRIPT.toString(), name).start();
    BufferedReader output = script.inputReader();
    @Nullable String line = output.readLine();
    if (line == null) {
      if (script.waitFor() == NOT_FOUND && System.getenv("WEFT_CI") == null) {
        abort("there is no " + name + " on this machine: run 'bin/servers install' as root");
      }
      return fail("bin/servers " + name + " failed; see above, and run 'bin/servers install'");
    }
    return new TestServer(script, line);
  }

  private TestServer(Process script, String line) {
    this.script = script;
    Matcher ready = READY.matcher(line);
    if (!ready.matches()) {
      script.destroy();
      throw new IllegalStateException("bin/servers says: " + line);
    }
    url = ready.group(2);
    process = ProcessHandle.of(Long.parseLong(ready.group(3))).orElseThrow();
  }

  /** Returns the server's address: a JDBC URL, or a URL for Jedis. */
  public String url() {
    return url;
  }

  /** Returns the process of the server itself. */
  public ProcessHandle process() {
    return process;
  }

  /** Kills the server, so that its connections break. */
  public void kill() {
    process.destroyForcibly();
    process.onExit().join();
  }

  @Override
  public void close() throws IOException {
    script.outputWriter().close();
    script.onExit().join();
  }
}
