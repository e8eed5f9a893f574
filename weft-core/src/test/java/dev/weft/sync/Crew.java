package dev.weft.sync;

import static dev.weft.Eventually.eventually;

import dev.weft.Body;
import dev.weft.Fiber;
import dev.weft.Scheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * The participants of a lock test: alternately a fiber of one scheduler, a fiber of another, and a
 * plain thread.
 */
final class Crew implements AutoCloseable {
  /** One participant. */
  record Member(String kind, Thread thread, CompletableFuture<?> end, Runnable stop) {
    /** Returns as soon as the member waits, for anything. */
    Member waits() {
      eventually(
          kind + " waits",
          () -> {
            Thread.State state = thread.getState();
            return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
          });
      return this;
    }

    /** Returns when the member has ended normally. */
    void join() throws Exception {
      end.get(15, TimeUnit.SECONDS);
    }

    /** Cancels the fiber, or interrupts the thread. */
    void giveUp() {
      stop.run();
    }
  }

  private final Scheduler one = Scheduler.builder().threads(1).build().start();
  private final Scheduler two = Scheduler.builder().threads(2).build().start();
  private final List<Member> members = new ArrayList<>();

  /** Starts the next member. */
  Member start(Body body) {
    Member member =
        switch (members.size() % 3) {
          case 0 -> fiber(one, body);
          case 1 -> thread(body);
          default -> fiber(two, body);
        };
    members.add(member);
    return member;
  }

  static Member fiber(Scheduler scheduler, Body body) {
    CompletableFuture<Void> end = new CompletableFuture<>();
    Fiber<Void> fiber = scheduler.go(() -> run(body, end));
    return new Member(fiber.toString(), fiber.thread(), end, fiber::cancel);
  }

  static Member thread(Body body) {
    CompletableFuture<Void> end = new CompletableFuture<>();
    Thread thread = Thread.ofPlatform().daemon().start(() -> run(body, end));
    return new Member("plain thread", thread, end, thread::interrupt);
  }

  private static void run(Body body, CompletableFuture<Void> end) {
    try {
      body.run();
      end.complete(null);
    } catch (Throwable e) {
      end.completeExceptionally(e);
    }
  }

  @Override
  public void close() {
    for (Member member : members) {
      if (!member.end.isDone()) {
        member.giveUp();
      }
    }
    one.stop();
    two.stop();
  }
}
