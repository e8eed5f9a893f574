package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.Check;
import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;

/**
 * The output of a command is read when the command has ended, but before the thread that copies it
 * has copied the rest.
 *
 * <p>After GoKer moby/18412.
 */
final class OutputBeforeCopy {
  static final KnownBug BUG =
      KnownBug.of(
          OutputBeforeCopy.class,
          "GoKer moby/18412",
          Kind.ORDER,
          () -> run(new Command()),
          () -> run(new FixedCommand()));

  private OutputBeforeCopy() {}

  private static void run(Command command) throws Exception {
    Together.run(command, Command::execute, Command::copy, Command::read);
  }

  private static class Command {
    final BlockingQueue<String> pipe = new ArrayBlockingQueue<>(4);
    final CountDownLatch ended = new CountDownLatch(1);
    final CountDownLatch copied = new CountDownLatch(1);
    String output = "";

    void execute() throws InterruptedException {
      pipe.put("one ");
      pipe.put("two");
      ended.countDown();
    }

    void copy() throws InterruptedException {
      output = output + pipe.take();
      output = output + pipe.take();
      copied.countDown();
    }

    void awaitOutput() throws InterruptedException {
      ended.await();
    }

    void read() throws InterruptedException {
      awaitOutput();
      Check.equal("one two", output, "output");
    }
  }

  private static final class FixedCommand extends Command {
    @Override
    void awaitOutput() throws InterruptedException {
      copied.await();
    }
  }
}
