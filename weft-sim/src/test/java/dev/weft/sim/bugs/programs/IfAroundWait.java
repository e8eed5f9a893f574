package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * A consumer waits once and takes for granted that there is a letter when it wakes; another
 * consumer was faster.
 *
 * <p>After the classic wait under an if.
 */
final class IfAroundWait {
  static final KnownBug BUG =
      KnownBug.of(
          IfAroundWait.class,
          "the classic wait under an if",
          Kind.LOST_WAKE_UP,
          () -> run(new Mailbox()),
          () -> run(new FixedMailbox()));

  private IfAroundWait() {}

  private static void run(Mailbox mailbox) throws Exception {
    Together.run(
        mailbox,
        Mailbox::take,
        Mailbox::take,
        m -> {
          m.put("first");
          m.put("second");
        });
  }

  private static class Mailbox {
    final Queue<String> letters = new ArrayDeque<>();

    synchronized void put(String letter) {
      letters.add(letter);
      notifyAll();
    }

    @SuppressWarnings("WaitNotInLoop") // the bug
    void awaitLetter() throws InterruptedException {
      if (letters.isEmpty()) {
        wait();
      }
    }

    synchronized String take() throws InterruptedException {
      awaitLetter();
      return letters.remove();
    }
  }

  private static final class FixedMailbox extends Mailbox {
    @Override
    void awaitLetter() throws InterruptedException {
      while (letters.isEmpty()) {
        wait();
      }
    }
  }
}
