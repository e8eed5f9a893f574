package dev.weft.bench.suite;

import com.jcraft.jsch.ChannelExec;
import com.jcraft.jsch.JSch;
import com.jcraft.jsch.JSchException;
import com.jcraft.jsch.Session;
import dev.weft.Body;
import dev.weft.Scheduler;
import dev.weft.bench.http.ServerPort;
import dev.weft.bench.model.Bar;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Metric;
import dev.weft.bench.run.Carriers;
import dev.weft.bench.run.ForkedWindows;
import dev.weft.bench.run.HookFlag;
import dev.weft.bench.run.WindowProbe;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Forty sessions of JSch at once, each with some commands, by a program without a call of Weft.
 * JSch reads each session in a platform thread, which wakes the virtual thread by {@code notify()}.
 */
public final class JschBenchmark {
  private static final Metric TIME = new Metric("40 sessions", "ms", Metric.Better.LESS);
  private static final Metric CPU = new Metric("the client's CPU time", "ms", Metric.Better.LESS);
  private static final String VIRTUAL_THREADS = "virtual threads";
  private static final double MOST_TIME = 1.05;

  private static final int THREADS = 2;
  private static final int SESSIONS = 40;
  private static final int COMMANDS = 5;
  private static final int LIMIT_MILLIS = 20_000;

  private JschBenchmark() {}

  static Comparison comparison() {
    return Comparison.named(
            "jsch", "How long 40 SSH sessions take at once, by JSch in virtual threads on two.")
        .metrics(TIME, CPU)
        .contestant("Weft", ForkedWindows.of(OfGuests.class, Carriers.of(THREADS)))
        .contestant(VIRTUAL_THREADS, ForkedWindows.of(OfVirtualThreads.class, Carriers.of(THREADS)))
        .bar(Bar.atMost(TIME, MOST_TIME, VIRTUAL_THREADS))
        .build();
  }

  /** With guests: virtual threads that a fiber starts. */
  public static final class OfGuests extends Sessions {
    public OfGuests() {
      super(guestsOf(Scheduler.builder().threads(THREADS).build().start()));
      HookFlag.check();
    }

    private static Crew guestsOf(Scheduler scheduler) {
      return bodies -> scheduler.go(() -> Crew.virtualThreads().run(bodies)).join();
    }
  }

  /** With virtual threads on the JDK's scheduler. */
  public static final class OfVirtualThreads extends Sessions {
    public OfVirtualThreads() {
      super(Crew.virtualThreads());
    }
  }

  /** A window is all sessions, from the first connect to the last disconnect. */
  abstract static class Sessions implements WindowProbe {
    private final Crew crew;

    Sessions(Crew crew) {
      this.crew = crew;
    }

    @Override
    public final Windows prepare(String parameter, boolean quick) throws Exception {
      int port = startServer();
      List<Body> sessions =
          IntStream.range(0, SESSIONS).<Body>mapToObj(i -> () -> runSession(port, i)).toList();
      Timed.of(quick ? 10 : 30, () -> crew.run(sessions));
      return () -> measure(sessions);
    }

    private Map<String, Double> measure(List<Body> sessions) throws Exception {
      Timed timed = Timed.of(1, () -> crew.run(sessions));
      return Map.of(TIME.name(), timed.wall() / 1e3, CPU.name(), timed.cpu() / 1e3);
    }
  }

  /** Starts the server in a process that ends with this one; returns its port. */
  static int startServer() throws IOException {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    String main = SshServerMain.class.getName();
    Process server =
        new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), main)
            .redirectErrorStream(true)
            .start();
    return ServerPort.read(server.inputReader());
  }

  /** Connects, runs the commands one after the other, and disconnects. */
  static void runSession(int port, int number) throws JSchException, IOException {
    Session session = new JSch().getSession("user", "localhost", port);
    session.setPassword("password");
    session.setConfig("StrictHostKeyChecking", "no");
    session.setConfig("PreferredAuthentications", "password");
    session.connect(LIMIT_MILLIS);
    try {
      for (int i = 0; i < COMMANDS; i++) {
        String command = number + "." + i;
        String said = said(session, command);
        if (!said.equals(command)) {
          throw new IOException("the command " + command + " answered " + said);
        }
      }
    } finally {
      session.disconnect();
    }
  }

  private static String said(Session session, String command) throws JSchException, IOException {
    ChannelExec channel = (ChannelExec) session.openChannel("exec");
    channel.setCommand(command);
    InputStream output = channel.getInputStream();
    channel.connect(LIMIT_MILLIS);
    try {
      return new String(output.readAllBytes(), StandardCharsets.UTF_8);
    } finally {
      channel.disconnect();
    }
  }
}
