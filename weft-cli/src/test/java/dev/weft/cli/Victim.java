package dev.weft.cli;

import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.channel.Channel;
import java.io.BufferedReader;
import java.io.IOException;
import java.time.Duration;

/** A program that uses Weft, for tests to look into; it is started with plain {@code java}. */
final class Victim {
  private Victim() {}

  public static void main(String[] args) throws Exception {
    Scheduler scheduler = Scheduler.builder().name("victim").threads(1).build().start();
    Channel<Integer> channel = Channel.rendezvous();
    for (int i = 0; i < 10; i++) {
      scheduler.go(FiberOptions.named("receiver"), () -> channel.receive());
    }
    scheduler.go(FiberOptions.named("burner"), Victim::burn);
    System.out.println("ready");
    Thread.sleep(Duration.ofMinutes(10));
    System.exit(channel.size());
  }

  /** Uses a third of a core. */
  private static void burn() throws InterruptedException {
    while (true) {
      long begin = System.nanoTime();
      while (System.nanoTime() - begin < 5_000_000) {
        Thread.onSpinWait();
      }
      Fiber.sleep(Duration.ofMillis(10));
    }
  }

  /** Starts it and waits until its fibers run. */
  static Process start(String... flags) throws IOException {
    String[] words = new String[flags.length + 1];
    System.arraycopy(flags, 0, words, 0, flags.length);
    words[flags.length] = Victim.class.getName();
    Process process = dev.weft.testkit.Command.java(words).startWithErrors();
    Thread.ofVirtual().start(() -> process.errorReader().lines().forEach(line -> {}));
    BufferedReader out = process.inputReader();
    String line = out.readLine();
    if (!"ready".equals(line)) {
      process.destroyForcibly();
      throw new AssertionError("the program says " + line);
    }
    return process;
  }
}
