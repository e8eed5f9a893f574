package dev.weft.proof;

import static dev.weft.proof.OneThread.joinAll;
import static java.util.stream.IntStream.range;
import static org.assertj.core.api.Assertions.assertThat;

import com.jcraft.jsch.ChannelExec;
import com.jcraft.jsch.JSch;
import com.jcraft.jsch.JSchException;
import com.jcraft.jsch.Session;
import dev.weft.Fiber;
import dev.weft.testkit.Feature;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.security.KeyPairGenerator;
import java.util.List;
import org.apache.sshd.common.keyprovider.KeyPairProvider;
import org.apache.sshd.server.Environment;
import org.apache.sshd.server.ExitCallback;
import org.apache.sshd.server.SshServer;
import org.apache.sshd.server.channel.ChannelSession;
import org.apache.sshd.server.command.Command;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * JSch, an SSH client whose sessions are read by platform threads: they wake the fibers by {@code
 * notify()}. The server is Apache MINA's, on platform threads.
 */
@Feature("H8")
class JschTest {
  /** Few, because key exchanges take some milliseconds each. */
  private static final int SESSIONS = 40;

  private static final int COMMANDS = 3;

  @Test
  void waitingForAnSshServerBlocksNoThread() throws Exception {
    Gate gate = new Gate();
    try (SshServer server = serve(gate);
        OneThread one = new OneThread()) {
      List<Fiber<List<String>>> fibers = one.goAll(SESSIONS, i -> commands(server.getPort(), i));
      one.eventually("all sessions have sent a command", () -> gate.arrived() == SESSIONS);
      one.hasFreeThread();
      gate.open();

      assertThat(joinAll(fibers))
          .isEqualTo(
              range(0, SESSIONS)
                  .mapToObj(i -> range(0, COMMANDS).mapToObj(k -> "ran " + i + "." + k).toList())
                  .toList());
    }
  }

  /** Runs some commands in a session, one after the other. */
  private static List<String> commands(int port, int number) throws JSchException, IOException {
    Session session = new JSch().getSession("user", "localhost", port);
    session.setPassword("password");
    session.setConfig("StrictHostKeyChecking", "no");
    int limit = (int) OneThread.LIMIT.toMillis();
    session.connect(limit);
    try {
      String[] said = new String[COMMANDS];
      for (int i = 0; i < COMMANDS; i++) {
        ChannelExec channel = (ChannelExec) session.openChannel("exec");
        channel.setCommand(number + "." + i);
        InputStream output = channel.getInputStream();
        channel.connect(limit);
        said[i] = new String(output.readAllBytes(), StandardCharsets.UTF_8);
        channel.disconnect();
      }
      return List.of(said);
    } finally {
      session.disconnect();
    }
  }

  /** Starts a server whose commands wait at the gate. */
  private static SshServer serve(Gate gate) throws Exception {
    SshServer server = SshServer.setUpDefaultServer();
    server.setHost("localhost");
    KeyPairGenerator keys = KeyPairGenerator.getInstance("RSA");
    keys.initialize(2048);
    server.setKeyPairProvider(KeyPairProvider.wrap(keys.generateKeyPair()));
    server.setPasswordAuthenticator((user, password, session) -> true);
    server.setCommandFactory((channel, command) -> new Gated(command, gate));
    server.start();
    return server;
  }

  /** A command that says its name when the gate is open. */
  private static final class Gated implements Command {
    private final String name;
    private final Gate gate;
    private @Nullable OutputStream output;
    private @Nullable ExitCallback exit;

    Gated(String name, Gate gate) {
      this.name = name;
      this.gate = gate;
    }

    @Override
    public void setInputStream(InputStream in) {}

    @Override
    public void setOutputStream(OutputStream out) {
      output = out;
    }

    @Override
    public void setErrorStream(OutputStream err) {}

    @Override
    public void setExitCallback(ExitCallback callback) {
      exit = callback;
    }

    @Override
    public void start(ChannelSession channel, Environment environment) {
      OutputStream to = output;
      ExitCallback end = exit;
      assertThat(to).isNotNull();
      assertThat(end).isNotNull();
      Thread.ofPlatform().daemon().start(() -> run(to, end));
    }

    private void run(OutputStream to, ExitCallback end) {
      try {
        gate.pass();
        to.write(("ran " + name).getBytes(StandardCharsets.UTF_8));
        to.flush();
        end.onExit(0);
      } catch (IOException | InterruptedException e) {
        end.onExit(1, e.toString());
      }
    }

    @Override
    public void destroy(ChannelSession channel) {}
  }
}
