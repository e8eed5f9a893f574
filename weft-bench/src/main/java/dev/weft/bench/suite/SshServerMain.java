package dev.weft.bench.suite;

import dev.weft.bench.run.Lifeline;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.security.KeyPairGenerator;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.sshd.common.keyprovider.KeyPairProvider;
import org.apache.sshd.server.Environment;
import org.apache.sshd.server.ExitCallback;
import org.apache.sshd.server.SshServer;
import org.apache.sshd.server.channel.ChannelSession;
import org.apache.sshd.server.command.Command;
import org.jspecify.annotations.Nullable;

/**
 * Apache MINA's SSH server on platform threads, as a process of its own. It lets everybody in, and
 * each command answers with its own text. It prints its port and ends with its standard input.
 */
public final class SshServerMain {
  private static final int KEY_BITS = 2048;

  private SshServerMain() {}

  /** Serves until the process that started this one ends. */
  public static void main(String[] args) throws Exception {
    Lifeline.hold(line -> {});
    ExecutorService commands = Executors.newCachedThreadPool();
    KeyPairGenerator keys = KeyPairGenerator.getInstance("RSA");
    keys.initialize(KEY_BITS);
    SshServer server = SshServer.setUpDefaultServer();
    server.setHost("localhost");
    server.setKeyPairProvider(KeyPairProvider.wrap(keys.generateKeyPair()));
    server.setPasswordAuthenticator((user, password, session) -> true);
    server.setCommandFactory((channel, command) -> new Echo(command, commands));
    server.start();
    System.out.println("@port " + server.getPort());
    new CountDownLatch(1).await(); // the server has daemon threads only
  }

  /** A command that answers with its own text. */
  private static final class Echo implements Command {
    private final String text;
    private final ExecutorService commands;
    private @Nullable OutputStream output;
    private @Nullable ExitCallback exit;

    Echo(String text, ExecutorService commands) {
      this.text = text;
      this.commands = commands;
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
    public void start(ChannelSession channel, Environment environment) throws IOException {
      OutputStream to = output;
      ExitCallback end = exit;
      if (to == null || end == null) {
        throw new IOException("the server has given no output to the command " + text);
      }
      commands.execute(() -> answer(to, end));
    }

    private void answer(OutputStream to, ExitCallback end) {
      try {
        to.write(text.getBytes(StandardCharsets.UTF_8));
        to.flush();
        end.onExit(0);
      } catch (IOException e) {
        end.onExit(1, e.toString());
      }
    }

    @Override
    public void destroy(ChannelSession channel) {}
  }
}
