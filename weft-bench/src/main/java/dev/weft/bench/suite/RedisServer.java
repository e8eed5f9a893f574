package dev.weft.bench.suite;

import dev.weft.bench.run.Probe;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A Redis server that {@code bin/servers} of the repository runs. It ends when it is closed, and
 * also when this process ends in any way: the script reads from a pipe that then breaks.
 */
final class RedisServer implements AutoCloseable {
  private static final String ROOT = "weft.root";
  private static final Pattern READY = Pattern.compile("redis at (\\S+) \\(process [0-9]+\\)");

  private final Process script;
  private final URI url;

  private RedisServer(Process script, URI url) {
    this.script = script;
    this.url = url;
  }

  /** Returns the flag that a JVM needs for {@link #start}. */
  static String whereToFindIt() {
    return "-D" + ROOT + "=" + System.getProperty(ROOT, "");
  }

  /** Starts one and waits until it serves. */
  static RedisServer start() throws IOException, Probe.Impossible {
    return start(Path.of(System.getProperty(ROOT, "")));
  }

  /** Starts it by the script of this repository. */
  static RedisServer start(Path root) throws IOException, Probe.Impossible {
    Path program = root.resolve("bin/servers").toAbsolutePath();
    if (!Files.isExecutable(program)) {
      throw new Probe.Impossible("needs bin/servers: start in the repository's root");
    }
    Process script =
        new ProcessBuilder(program.toString(), "redis")
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    @Nullable String line = script.inputReader().readLine();
    Matcher ready = READY.matcher(line == null ? "" : line);
    if (!ready.matches()) {
      script.destroy();
      throw new Probe.Impossible("needs a Redis server: run 'bin/servers install' as root");
    }
    return new RedisServer(script, URI.create(ready.group(1)));
  }

  URI url() {
    return url;
  }

  @Override
  public void close() throws IOException {
    script.outputWriter().close();
    script.onExit().join();
  }
}
