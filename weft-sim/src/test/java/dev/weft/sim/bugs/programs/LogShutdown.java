package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * A log accepts a message because it is not shut down, and shuts down before the message is queued.
 *
 * <p>After Java Concurrency in Practice, listing 7.14 (unreliable shutdown of a log service).
 */
final class LogShutdown {
  static final KnownBug BUG =
      KnownBug.of(
          LogShutdown.class,
          "Java Concurrency in Practice, listing 7.14 (unreliable shutdown of a log service)",
          Kind.COMMUNICATION,
          () -> run(new LogService()),
          () -> run(new FixedLogService()));

  private LogShutdown() {}

  private static void run(LogService service) throws Exception {
    Together.run(service, LogService::write, LogService::log, LogService::stop);
    Check.equal(service.accepted, service.written, "written messages");
  }

  private static class LogService {
    private static final String END = "end";
    private final BlockingQueue<String> queue = new LinkedBlockingQueue<>();
    private volatile boolean stopped;
    int accepted;
    int written;

    void log() throws InterruptedException {
      if (!stopped) {
        accepted = accepted + 1;
        queue.put("message");
      }
    }

    void stop() throws InterruptedException {
      stopped = true;
      queue.put(END);
    }

    void write() throws InterruptedException {
      while (!queue.take().equals(END)) {
        written = written + 1;
      }
    }
  }

  private static final class FixedLogService extends LogService {
    @Override
    synchronized void log() throws InterruptedException {
      super.log();
    }

    @Override
    synchronized void stop() throws InterruptedException {
      super.stop();
    }
  }
}
