package dev.weft.stress.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Fiber;
import dev.weft.internal.lock.SpinLock;
import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.wait.WaitNode;
import dev.weft.internal.wait.WaitQueue;
import dev.weft.internal.wait.Waiter;
import dev.weft.sim.FailureReport;
import dev.weft.sim.Fault;
import dev.weft.sim.SimulationResult;
import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Weft's own parts in simulations, with a fixed number of seeds; {@code ./weft stress sim=N} runs
 * more.
 */
@Feature("V9")
class OwnHouseTest {
  private static final int SEEDS = 600;
  private static final int EARLY_SEEDS = 200;

  static final List<OwnProgram> CHANNELS = ChannelPrograms.ALL;
  static final List<OwnProgram> SELECTS = SelectPrograms.ALL;
  static final List<OwnProgram> LOCKS = LockPrograms.ALL;
  static final List<OwnProgram> SCOPES = ScopePrograms.ALL;
  static final List<OwnProgram> TIMERS = TimerPrograms.ALL;

  @ParameterizedTest
  @FieldSource("CHANNELS")
  @Feature({"V9", "K1", "K2", "K5", "K8"})
  void channelsKeepTheirPromises(OwnProgram program) {
    passes(program);
  }

  @ParameterizedTest
  @FieldSource("SELECTS")
  @Feature({"V9", "K4", "K5", "K9"})
  void selectsKeepTheirPromises(OwnProgram program) {
    passes(program);
  }

  @ParameterizedTest
  @FieldSource("LOCKS")
  @Feature({"V9", "Y1", "Y2", "Y3", "Y4", "Y5", "Y7"})
  void locksKeepTheirPromises(OwnProgram program) {
    passes(program);
  }

  @ParameterizedTest
  @FieldSource("SCOPES")
  @Feature({"V9", "X1", "X2", "X3", "X4", "S13", "S15", "S16", "S27"})
  void scopesAndPoolsKeepTheirPromises(OwnProgram program) {
    passes(program);
  }

  @ParameterizedTest
  @FieldSource("TIMERS")
  @Feature({"V9", "T1"})
  void timersKeepTheirPromises(OwnProgram program) {
    passes(program);
  }

  /** Those of the programs that have timers: virtual time passes in them. */
  static List<OwnProgram> withTimers() {
    List<OwnProgram> programs =
        OwnHouse.WITH_EARLY_TIMERS.stream()
            .filter(program -> OwnHouse.explore(program, 1, 10).virtualTime().isPositive())
            .toList();
    assertThat(programs).hasSizeGreaterThan(10);
    return programs;
  }

  /** Time passes while fibers compute, so that limits race what they limit. */
  @ParameterizedTest
  @MethodSource("withTimers")
  @Feature({"V9", "T1"})
  void promisesAreKeptWhenTimersFireEarly(OwnProgram program) {
    SimulationResult result = OwnHouse.exploreWithEarlyTimers(program, 1, EARLY_SEEDS, () -> {});
    assertThat(result.failure().map(FailureReport::text)).isEmpty();
    assertThat(result.faults().get(Fault.EARLY_TIMER)).isPositive();
  }

  private static void passes(OwnProgram program) {
    SimulationResult result = OwnHouse.explore(program, 1, SEEDS);
    assertThat(result.failure().map(FailureReport::text)).isEmpty();
    assertThat(result.schedules()).as("points are inside Weft").isGreaterThan(SEEDS / 10);
  }

  /** Each seed found a bug in Weft. */
  @ParameterizedTest
  @ValueSource(strings = {"fairMutexWaitersGiveUp seed:191", "mutexHandsOverToImpatient seed:583"})
  void seedsThatFoundBugsPass(String found) {
    String[] parts = found.split(" ", 2);
    assertThat(OwnHouse.replay(parts[0], parts[1]).failure().map(FailureReport::text)).isEmpty();
  }

  // ---- that the programs can fail ----

  /**
   * A lock with the protocol that {@code Mutex} had: an unlock chooses the next owner first, and
   * writes that the lock is held afterwards. The limit of that owner may pass between, and then it
   * runs, and unlocks, between.
   */
  private static final class HandedOverTooEarly {
    private final SpinLock guard = new SpinLock();
    private final WaitQueue queue = new WaitQueue(guard, "the lock of", "a planted bug");
    private volatile boolean held;

    boolean lock(Duration limit) throws InterruptedException {
      Waiter waiter = new Waiter(FiberCore.currentOrNull());
      guard.lock();
      try {
        if (!held) {
          held = true;
          return true;
        }
        queue.add(waiter);
      } finally {
        guard.unlock();
      }
      return waiter.await(queue, limit);
    }

    void unlock() {
      held = false;
      WaitNode next;
      guard.lock();
      try {
        next = queue.poll();
        if (next != null) {
          held = true;
        }
      } finally {
        guard.unlock();
      }
      if (next != null) {
        next.wake();
      }
    }
  }

  @Test
  void aPlantedBugIsFound() {
    OwnProgram program =
        new OwnProgram(
            "planted",
            () -> {
              HandedOverTooEarly lock = new HandedOverTooEarly();
              Party party = new Party();
              Duration moment = Duration.ofMillis(1);
              lock.lock(moment);
              party.go(
                  "waiter",
                  () -> {
                    if (lock.lock(moment)) {
                      lock.unlock();
                    }
                  });
              Fiber.sleep(moment);
              lock.unlock();
              party.join();
              Party.check(!lock.held, "the lock is held for ever");
            });

    FailureReport report = OwnHouse.explore(program, 1, 5_000).failure().orElseThrow();

    assertThat(report.text()).contains("the lock is held for ever", "waiter  spins");
  }

  /** A semaphore whose acquire throws although it has been given a permit: the permit is lost. */
  private static final class ForgetsPermit {
    private final SpinLock guard = new SpinLock();
    private final WaitQueue queue = new WaitQueue(guard, "a permit of", "a planted bug");
    private int permits;

    void acquire() throws InterruptedException {
      Waiter waiter = new Waiter(FiberCore.currentOrNull());
      guard.lock();
      try {
        if (permits > 0) {
          permits--;
          return;
        }
        queue.add(waiter);
      } finally {
        guard.unlock();
      }
      waiter.await(queue);
      FiberCore.throwIfInterrupted(FiberCore.currentOrNull());
    }

    void release() {
      WaitNode next;
      guard.lock();
      try {
        next = queue.poll();
        permits += next == null ? 1 : 0;
      } finally {
        guard.unlock();
      }
      if (next != null) {
        next.wake();
      }
    }
  }

  @Test
  void aLostPermitIsFound() {
    OwnProgram program =
        new OwnProgram(
            "planted",
            () -> {
              ForgetsPermit semaphore = new ForgetsPermit();
              Party party = new Party();
              Fiber<Void> victim =
                  party.go(
                      "victim",
                      () -> {
                        semaphore.acquire();
                        semaphore.release();
                      });
              party.go("canceller", victim::cancel);
              party.go("giver", semaphore::release);
              party.join();
              Party.check(semaphore.permits == 1, "the permit is lost");
            });

    FailureReport report = OwnHouse.explore(program, 1, 5_000).failure().orElseThrow();

    assertThat(report.text()).contains("the permit is lost");
  }
}
