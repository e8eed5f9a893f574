package dev.weft.stress.sim;

import static dev.weft.stress.sim.Party.check;
import static dev.weft.stress.sim.Party.equal;

import dev.weft.Fiber;
import dev.weft.FiberPool;
import dev.weft.Scope;
import dev.weft.Weft;
import dev.weft.channel.Channel;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/** Scopes, pools, time limits, shields, join and cancel: no fiber outlives its block. */
final class ScopePrograms {
  private static final Duration MOMENT = Duration.ofMillis(1);
  private static final Duration HOUR = Duration.ofHours(1);

  static final List<OwnProgram> ALL =
      List.of(
          new OwnProgram("scopeWaitsForAll", ScopePrograms::waitsForAll),
          new OwnProgram("scopeFails", ScopePrograms::fails),
          new OwnProgram("scopeFirstSuccess", ScopePrograms::firstSuccess),
          new OwnProgram("scopeOpenerIsCancelled", ScopePrograms::openerIsCancelled),
          new OwnProgram("scopeDeadline", ScopePrograms::deadline),
          new OwnProgram("scopeIsLeftOpen", ScopePrograms::leftOpen),
          new OwnProgram("joinMeetsCancel", ScopePrograms::joinMeetsCancel),
          new OwnProgram("withTimeoutMeetsValue", ScopePrograms::timeoutMeetsValue),
          new OwnProgram("shieldMeetsCancel", ScopePrograms::shieldMeetsCancel),
          new OwnProgram("poolRunsAll", () -> poolRunsAll(FiberPool.WhenFull.WAIT)),
          new OwnProgram("poolRejects", () -> poolRunsAll(FiberPool.WhenFull.REJECT)),
          new OwnProgram("poolShutsDown", ScopePrograms::poolShutsDown));

  private ScopePrograms() {}

  /** Fibers that are started by fibers of the scope, also at the last moment, are waited for. */
  private static void waitsForAll() throws Exception {
    AtomicInteger ended = new AtomicInteger();
    try (Scope scope = Scope.open()) {
      for (int i = 0; i < 2; i++) {
        scope.go(
            () -> {
              scope.go(
                  () -> {
                    Fiber.yield();
                    ended.incrementAndGet();
                  });
              try (Scope inner = Scope.open()) {
                inner.go(
                    () -> {
                      scope.go(
                          () -> {
                            ended.incrementAndGet();
                          });
                      ended.incrementAndGet();
                    });
                inner.join();
              }
              ended.incrementAndGet();
            });
      }
      scope.join();
      equal(ended.get(), 8, "fibers that have ended at join");
    }
  }

  /** The first failure cancels the others; none lives on. */
  private static void fails() throws Exception {
    Channel<Integer> never = Channel.rendezvous();
    AtomicInteger begun = new AtomicInteger();
    AtomicInteger ended = new AtomicInteger();
    try (Scope scope = Scope.open()) {
      for (int i = 0; i < 2; i++) {
        scope.go(
            () -> {
              begun.incrementAndGet();
              try {
                never.receive();
              } finally {
                ended.incrementAndGet();
              }
            });
      }
      scope.go(
          () -> {
            throw new IllegalStateException("planned");
          });
      scope.join();
      throw new AssertionError("join returns though a fiber has failed");
    } catch (CompletionException e) {
      equal(String.valueOf(e.getCause().getMessage()), "planned", "the cause");
    }
    equal(ended.get(), begun.get(), "fibers that have ended");
  }

  private static void firstSuccess() throws Exception {
    Channel<Integer> never = Channel.rendezvous();
    AtomicInteger live = new AtomicInteger();
    Scope.Joiner<Integer> any = Scope.Joiner.anySuccessfulResultOrThrow();
    try (Scope scope = Scope.open(any)) {
      for (int i = 1; i <= 2; i++) {
        int result = i;
        scope.go(() -> result);
      }
      scope.go(
          () -> {
            live.incrementAndGet();
            try {
              return never.receive();
            } finally {
              live.decrementAndGet();
            }
          });
      scope.join();
      int result = any.result();
      check(result == 1 || result == 2, "the result is " + result);
    }
    equal(live.get(), 0, "fibers that live on");
  }

  private static void openerIsCancelled() throws Exception {
    Channel<Integer> never = Channel.rendezvous();
    AtomicInteger live = new AtomicInteger();
    Party party = new Party();
    Fiber<Void> opener =
        party.go(
            "opener",
            () -> {
              try (Scope scope = Scope.open()) {
                for (int i = 0; i < 2; i++) {
                  scope.go(() -> stay(never, live));
                }
                scope.go(
                    () -> {
                      try (Scope inner = Scope.open()) {
                        inner.go(() -> stay(never, live));
                        inner.join();
                      }
                    });
                scope.join();
              } finally {
                equal(live.get(), 0, "fibers that live on");
              }
            });
    party.go("canceller", opener::cancel);
    party.join();
    check(opener.isCancelled(), "the opener is not cancelled");
  }

  private static void stay(Channel<Integer> never, AtomicInteger live) throws InterruptedException {
    live.incrementAndGet();
    try {
      never.receive();
    } finally {
      live.decrementAndGet();
    }
  }

  /** A deadline that passes when the last fiber ends: in time, or a timeout, never both. */
  private static void deadline() throws Exception {
    AtomicInteger ended = new AtomicInteger();
    boolean late = false;
    try (Scope scope = Scope.open(Scope.Joiner.awaitAllSuccessfulOrThrow(), MOMENT)) {
      for (int i = 0; i < 2; i++) {
        scope.go(
            () -> {
              Fiber.sleep(MOMENT);
              ended.incrementAndGet();
            });
      }
      scope.join();
    } catch (CompletionException e) {
      check(e.getCause() instanceof TimeoutException, "join throws " + e);
      late = true;
    }
    check(late || ended.get() == 2, "join returns with " + ended.get() + " of 2 ended");
  }

  @SuppressWarnings("MustBeClosedChecker")
  private static void leftOpen() throws Exception {
    Channel<Integer> never = Channel.rendezvous();
    AtomicInteger live = new AtomicInteger();
    Fiber<Void> careless =
        Weft.go(
            () -> {
              Scope scope = Scope.open();
              scope.go(() -> stay(never, live));
              scope.go(() -> stay(never, live));
            });
    try {
      careless.join();
      throw new AssertionError("a fiber that left its scope open does not fail");
    } catch (CompletionException e) {
      check(e.getCause() instanceof IllegalStateException, "it fails with " + e.getCause());
    }
    equal(live.get(), 0, "fibers that live on");
  }

  /** All joiners see the same end, and one cancel is the first. */
  private static void joinMeetsCancel() throws Exception {
    Channel<Integer> channel = Channel.rendezvous();
    Party party = new Party();
    AtomicInteger firsts = new AtomicInteger();
    AtomicInteger results = new AtomicInteger();
    AtomicInteger cancelled = new AtomicInteger();
    Fiber<Integer> fiber = Weft.go(() -> channel.receive());
    party.go("sender", () -> channel.send(1, MOMENT));
    for (int i = 0; i < 2; i++) {
      party.go("canceller " + i, () -> firsts.addAndGet(fiber.cancel() ? 1 : 0));
      party.go(
          "joiner " + i,
          () -> {
            try {
              results.addAndGet(fiber.join());
            } catch (CancellationException e) {
              cancelled.incrementAndGet();
            }
          });
    }
    party.join();
    check(results.get() + cancelled.get() == 2, "two joiners have seen " + results + cancelled);
    check(results.get() != 1, "one joiner has seen a result, one a cancel");
    check(firsts.get() <= 1, "two cancels were the first");
    check(cancelled.get() == 0 || firsts.get() == 1, "cancelled, but by no cancel");
  }

  private static void timeoutMeetsValue() throws Exception {
    Channel<Integer> channel = Channel.rendezvous();
    Party party = new Party();
    AtomicInteger sent = new AtomicInteger();
    party.go(
        "sender",
        () -> {
          Fiber.sleep(MOMENT);
          sent.addAndGet(channel.send(1, MOMENT) ? 1 : 0);
        });
    int received;
    try {
      received = Weft.withTimeout(MOMENT, () -> channel.receive());
    } catch (TimeoutException e) {
      received = 0;
    }
    check(!Thread.currentThread().isInterrupted(), "the limit leaves an interrupt behind");
    Fiber.sleep(MOMENT); // a wait after the limit does not fail
    party.join();
    equal(received, sent.get(), "received of what was sent");
  }

  /** A cancel does not reach into a shield that has been entered, and takes effect after it. */
  private static void shieldMeetsCancel() throws Exception {
    AtomicInteger entered = new AtomicInteger();
    AtomicInteger left = new AtomicInteger();
    AtomicInteger after = new AtomicInteger();
    Party party = new Party();
    Fiber<Void> victim =
        party.go(
            "victim",
            () -> {
              Weft.shielded(
                  () -> {
                    entered.incrementAndGet();
                    Fiber.sleep(MOMENT);
                    left.incrementAndGet();
                  });
              Fiber.sleep(HOUR);
              after.incrementAndGet();
            });
    party.go("canceller", victim::cancel);
    party.join();
    equal(left.get(), entered.get(), "shields left");
    equal(after.get(), 0, "a cancelled fiber has slept on");
    check(victim.isCancelled(), "the victim is not cancelled");
  }

  private static void poolRunsAll(FiberPool.WhenFull whenFull) throws Exception {
    AtomicInteger ran = new AtomicInteger();
    AtomicInteger running = new AtomicInteger();
    AtomicInteger refused = new AtomicInteger();
    Party party = new Party();
    try (FiberPool pool =
        FiberPool.builder().fibers(2).queue(1).growBy(1).whenFull(whenFull).build()) {
      for (int i = 0; i < 2; i++) {
        party.go(
            "submitter " + i,
            () -> {
              for (int k = 0; k < 2; k++) {
                try {
                  pool.execute(
                      () -> {
                        check(running.incrementAndGet() <= 2, "three tasks at once");
                        Thread.yield();
                        running.decrementAndGet();
                        ran.incrementAndGet();
                      });
                } catch (RejectedExecutionException e) {
                  refused.incrementAndGet();
                }
              }
            });
      }
      party.join();
    }
    equal(ran.get() + refused.get(), 4, "tasks that ran or were refused");
    check(whenFull == FiberPool.WhenFull.REJECT || refused.get() == 0, "a task was refused");
  }

  /** Tasks meet the shutdown: each is run, returned or refused. */
  private static void poolShutsDown() throws Exception {
    AtomicInteger ran = new AtomicInteger();
    AtomicInteger refused = new AtomicInteger();
    AtomicInteger returned = new AtomicInteger();
    FiberPool pool = FiberPool.builder().fibers(1).queue(2).build();
    Party party = new Party();
    for (int i = 0; i < 2; i++) {
      party.go(
          "submitter " + i,
          () -> {
            for (int k = 0; k < 2; k++) {
              try {
                pool.execute(ran::incrementAndGet);
              } catch (RejectedExecutionException e) {
                refused.incrementAndGet();
              }
            }
          });
    }
    party.go("stopper", () -> returned.addAndGet(pool.shutdownNow().size()));
    party.join();
    check(pool.awaitTermination(1, TimeUnit.HOURS), "it does not end");
    equal(
        ran.get() + returned.get() + refused.get(), 4, "tasks that ran, were returned or refused");
  }
}
