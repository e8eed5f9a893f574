package dev.weft;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import dev.weft.testkit.Feature;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Fibers inside a scope that start more fibers in it, and the names of all. */
@Feature("X4")
class ScopeMemberTest {
  private static final ScopedValue<String> USER = ScopedValue.newInstance();

  static Stream<Supplier<Scope.Joiner<?>>> joiners() {
    return Stream.of(
        Scope.Joiner::awaitAll,
        Scope.Joiner::awaitAllSuccessfulOrThrow,
        Scope.Joiner::<Object>allSuccessfulOrThrow);
  }

  @ParameterizedTest
  @MethodSource("joiners")
  void aFiberOfAScopeMayStartMoreFibersInIt(Supplier<Scope.Joiner<?>> joiner) {
    List<String> crawled = new ArrayList<>();
    Weft.run(
        () -> {
          try (Scope scope = Scope.open(joiner.get())) {
            scope.go(
                () -> {
                  crawled.add("page 1");
                  scope.go(() -> crawled.add("page 2, linked from page 1"));
                });
            scope.join();
          }
          crawled.add("done");
        });
    assertThat(crawled).containsExactly("page 1", "page 2, linked from page 1", "done");
  }

  @ParameterizedTest
  @EnumSource
  void joinWaitsForFibersThatAreStartedWhileItWaits(ScopeTest.Opener opener) throws Exception {
    opener.run(
        () -> {
          AtomicInteger ended = new AtomicInteger();
          Scope.Joiner<List<Fiber<?>>> all = Scope.Joiner.awaitAll();
          try (Scope scope = Scope.open(all)) {
            scope.go(() -> branch(scope, 9, ended));
            scope.join();
            assertThat(ended).hasValue(1023);
            assertThat(all.result()).hasSize(1023).doesNotHaveDuplicates();
          }
        });
  }

  /** Starts two fibers, each of which starts two, to this depth, and ends before they do. */
  private static void branch(Scope scope, int depth, AtomicInteger ended) {
    if (depth > 0) {
      scope.go(() -> branch(scope, depth - 1, ended));
      scope.go(() -> branch(scope, depth - 1, ended));
    }
    ended.incrementAndGet();
  }

  @ParameterizedTest
  @EnumSource
  void fibersOfInnerScopesMayStartMoreInTheOuterScope(ScopeTest.Opener opener) throws Exception {
    opener.run(
        () -> {
          AtomicInteger ran = new AtomicInteger();
          try (Scope outer = Scope.open()) {
            outer.go(
                () -> {
                  try (Scope inMember = Scope.open()) {
                    inMember.go(() -> outer.go(ran::incrementAndGet));
                    inMember.join();
                  }
                });
            try (Scope inOpener = Scope.open()) {
              inOpener.go(() -> outer.go(ran::incrementAndGet));
              inOpener.join();
            }
            outer.join();
          }
          assertThat(ran).hasValue(2);
        });
  }

  @Test
  void theOpenerMayStartMoreWhileAScopeOpenedAfterItIsOpen() {
    AtomicBoolean ran = new AtomicBoolean();
    try (Scope outer = Scope.open()) {
      try (Scope inner = Scope.open()) {
        outer.go(() -> ran.set(true));
        inner.join();
      }
      outer.join();
    }
    assertThat(ran).isTrue();
  }

  @Test
  void aCallbackOfAFibersFutureIsInsideTheScope() {
    AtomicBoolean ran = new AtomicBoolean();
    try (Scope scope = Scope.open()) {
      CountDownLatch registered = new CountDownLatch(1);
      Fiber<Void> fiber = scope.go(() -> registered.await());
      var _ = fiber.toFuture().thenRun(() -> scope.go(() -> ran.set(true)));
      registered.countDown();
      scope.join();
    }
    assertThat(ran).isTrue();
  }

  @Test
  void inACancelledScopeANewFiberNeverRuns() {
    AtomicBoolean ran = new AtomicBoolean();
    AtomicReference<Fiber<Void>> late = new AtomicReference<>();
    try (Scope scope = Scope.open()) {
      scope.go(
          () -> {
            scope.cancel();
            late.set(scope.go(() -> ran.set(true)));
          });
      scope.join();
      assertThat(late.get().status()).isEqualTo(Fiber.Status.DONE);
      assertThatExceptionOfType(CancellationException.class).isThrownBy(late.get()::join);
    }
    assertThat(ran).isFalse();
  }

  @Test
  void aFiberStartedWhileCloseWaitsNeverRunsAndIsAwaited() {
    AtomicBoolean ran = new AtomicBoolean();
    AtomicReference<Fiber<Void>> late = new AtomicReference<>();
    CountDownLatch started = new CountDownLatch(1);
    assertThatIllegalStateException()
        .isThrownBy(
            () -> {
              try (Scope scope = Scope.open()) {
                scope.go(
                    () -> {
                      started.countDown();
                      try {
                        ScopeTest.forEver();
                      } finally {
                        late.set(scope.go(() -> ran.set(true)));
                      }
                    });
                started.await();
              }
            })
        .withMessageContaining("there was no join()");
    assertThat(late.get().status()).isEqualTo(Fiber.Status.DONE);
    assertThat(ran).isFalse();
  }

  @Test
  void theStartingFiberCallsTheJoinerOneCallAtATime() throws Exception {
    class Counting implements Scope.Joiner<Integer> {
      private int begun;
      private int ended;
      private boolean alwaysItself = true;
      private final AtomicReference<Fiber<?>> expected = new AtomicReference<>();

      @Override
      public boolean onGo(Fiber<?> fiber) {
        begun++;
        Fiber<?> starter = Fiber.current().orElse(null);
        alwaysItself &= expected.get() == null || expected.get() == starter;
        return false;
      }

      @Override
      public boolean onComplete(Fiber<?> fiber) {
        ended++;
        return false;
      }

      @Override
      public Integer result() {
        return begun - ended;
      }
    }
    Counting joiner = new Counting();
    try (Scope scope = Scope.open(joiner)) {
      Fiber<Void> first =
          scope.go(
              () -> {
                joiner.expected.set(Fiber.current().orElseThrow());
                scope.go(() -> {});
                joiner.expected.set(null);
              });
      first.join(); // before other fibers start fibers, which are not expected
      for (int i = 0; i < 8; i++) {
        scope.go(
            () -> {
              for (int k = 0; k < 200; k++) {
                scope.go(() -> {});
              }
            });
      }
      scope.join();
      assertThat(joiner.begun).isEqualTo(1610);
      assertThat(joiner.result()).isZero();
      assertThat(joiner.alwaysItself).isTrue();
    }
  }

  @Test
  void aJoinerThatHasEnoughWhenAFiberStartsMoreCancelsTheScope() {
    class AtMostTwo implements Scope.Joiner<Integer> {
      private int begun;

      @Override
      public boolean onGo(Fiber<?> fiber) {
        return ++begun > 2;
      }

      @Override
      public Integer result() {
        return begun;
      }
    }
    AtMostTwo joiner = new AtMostTwo();
    try (Scope scope = Scope.open(joiner)) {
      scope.go(() -> ScopeTest.forEver());
      scope.go(() -> scope.go(() -> ScopeTest.forEver()));
      scope.join();
      assertThat(joiner.result()).isEqualTo(3);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aFiberSeesTheScopedValuesBoundWhenTheScopeWasOpened(ScopeTest.Opener opener)
      throws Exception {
    opener.run(
        () ->
            ScopedValue.where(USER, "Ada")
                .run(
                    () -> {
                      List<String> seen = new ArrayList<>();
                      try (Scope scope = Scope.open()) {
                        scope.go(
                            () -> {
                              scope.go(() -> seen.add(USER.get())).join();
                              ScopedValue.where(USER, "Bob")
                                  .call(() -> scope.go(() -> seen.add(USER.get())))
                                  .join();
                            });
                        scope.join();
                      }
                      assertThat(seen).containsExactly("Ada", "Ada");
                    }));
  }

  // ---- outside ----

  private static Throwable failureOf(Callable<?> call) {
    try {
      call.call();
      return null;
    } catch (Throwable e) {
      return e;
    }
  }

  @Test
  void aFiberStartedWithWeftGoIsOutside() throws Exception {
    AtomicReference<Throwable> refusal = new AtomicReference<>();
    AtomicReference<Fiber<?>> outsider = new AtomicReference<>();
    try (Scope scope = Scope.open()) {
      scope.go(
          () -> {
            Fiber<Void> unscoped = Weft.go(() -> refusal.set(failureOf(() -> scope.go(() -> {}))));
            outsider.set(unscoped);
            unscoped.join();
          });
      scope.join();
      assertThat(refusal.get())
          .isInstanceOf(IllegalStateException.class)
          .hasMessage(
              "cannot go in "
                  + scope
                  + ": "
                  + outsider.get()
                  + " is not inside it; only "
                  + Thread.currentThread()
                  + " and fibers that were started in it, or in scopes inside it, may");
    }
  }

  @Test
  void anotherThreadAndAGuestAreOutside() throws Exception {
    try (Scope scope = Scope.open()) {
      for (Thread.Builder kind : List.of(Thread.ofPlatform(), Thread.ofVirtual())) {
        FutureTask<Throwable> plain = new FutureTask<>(() -> failureOf(() -> scope.go(() -> {})));
        kind.start(plain);
        assertThat(plain.get())
            .isInstanceOf(IllegalStateException.class)
            .hasMessageContaining("is not inside it");
      }
      Fiber<Throwable> host =
          scope.go(
              () -> {
                FutureTask<Throwable> guest =
                    new FutureTask<>(() -> failureOf(() -> scope.go(() -> {})));
                Thread.ofVirtual().start(guest);
                return guest.get();
              });
      scope.join();
      assertThat(host.join()).hasMessageContaining("is not inside it");
    }
  }

  @Test
  void aFiberOfAScopeAroundOrBesideIsOutside() throws Exception {
    try (Scope outer = Scope.open()) {
      AtomicReference<Scope> inner = new AtomicReference<>();
      CountDownLatch asked = new CountDownLatch(1);
      outer.go(
          () -> {
            try (Scope scope = Scope.open()) {
              inner.set(scope);
              asked.await();
            }
          });
      Fiber<Throwable> beside =
          outer.go(
              () -> {
                eventually("the other scope is open", () -> inner.get() != null);
                Throwable refusal = failureOf(() -> inner.get().go(() -> {}));
                asked.countDown();
                return refusal;
              });
      outer.join();
      assertThat(beside.join()).hasMessageContaining("is not inside it");
    }
  }

  @Test
  void inAScopeThatHasBeenJoinedNoFiberInsideMayStartMore() {
    try (Scope outer = Scope.open()) {
      outer.go(() -> {});
      outer.join();
      try (Scope inner = Scope.open(Scope.Joiner.awaitAll())) {
        Fiber<Throwable> late = inner.go(() -> failureOf(() -> outer.go(() -> {})));
        inner.join();
        assertThat(late.toFuture().join())
            .hasMessage("cannot go in " + outer + ": it has been joined; open a new scope");
      }
    }
  }

  @Test
  void goThatMeetsACancelLeavesNothingRunning() throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(2).build().start()) {
      for (int i = 0; i < 300; i++) {
        AtomicInteger begun = new AtomicInteger();
        Fiber<Void> owner =
            scheduler.go(
                () -> {
                  try (Scope scope = Scope.open()) {
                    scope.go(() -> spawnForEver(scope, begun));
                    scope.go(() -> spawnForEver(scope, begun));
                    scope.join();
                  }
                });
        int wanted = i % 20;
        eventually("the wanted number of fibers has started", () -> begun.get() >= wanted);
        owner.cancel();
        assertThatExceptionOfType(CancellationException.class).isThrownBy(owner::join);
      }
      eventually("no fiber is left", () -> scheduler.dump().fibers().isEmpty());
    }
  }

  private static void spawnForEver(Scope scope, AtomicInteger begun) throws InterruptedException {
    while (true) {
      scope.go(() -> ScopeTest.forEver());
      begun.incrementAndGet();
      Fiber.yield();
    }
  }

  // ---- names ----

  @Test
  void fibersOfAScopeHaveNames() throws Exception {
    try (Scope scope = Scope.open()) {
      Fiber<String> callable = scope.go("fetch head", () -> Thread.currentThread().getName());
      Fiber<Void> body = scope.go("fetch body", () -> ScopeTest.forEver());
      waits(body);
      assertThat(Scheduler.shared().dump().text()).contains("fetch body");
      body.cancel();
      scope.join();
      assertThat(callable.name()).isEqualTo("fetch head");
      assertThat(callable.join()).isEqualTo("fetch head");
      assertThat(body.name()).isEqualTo("fetch body");
    }
  }

  @Test
  void nullIsRefused() {
    try (Scope scope = Scope.open()) {
      assertThatNullPointerException()
          .isThrownBy(() -> scope.go(null, () -> 1))
          .withMessage("name");
      assertThatNullPointerException()
          .isThrownBy(() -> scope.go("name", (Body) null))
          .withMessage("body");
      assertThatNullPointerException()
          .isThrownBy(() -> scope.go((Callable<String>) null))
          .withMessage("body");
      scope.join();
    }
  }
}
