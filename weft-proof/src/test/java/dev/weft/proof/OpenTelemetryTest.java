package dev.weft.proof;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Coroutine;
import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Policy;
import dev.weft.Scheduler;
import dev.weft.Weft;
import dev.weft.testkit.Feature;
import io.opentelemetry.api.baggage.Baggage;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.context.Scope;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** OpenTelemetry's context in fibers, as docs/instruments.md says. */
@Feature("O4")
@Timeout(60)
class OpenTelemetryTest {
  private static final ScopedValue<Context> CONTEXT = ScopedValue.newInstance();

  /** Whether {@link Switchable} keeps the context in the inheritable thread local. */
  private static volatile boolean inherits;

  /** The storage of docs/instruments.md. */
  private static final class InheritedStorage implements ContextStorage {
    private static final InheritableThreadLocal<@Nullable Context> CURRENT =
        new InheritableThreadLocal<>();

    @Override
    public Scope attach(Context next) {
      Context before = CURRENT.get();
      if (next == before) {
        return Scope.noop();
      }
      CURRENT.set(next);
      return () -> CURRENT.set(before);
    }

    @Override
    public @Nullable Context current() {
      return CURRENT.get();
    }
  }

  /** The storage can be set once in a JVM: this one is OpenTelemetry's own or the inherited one. */
  private record Switchable(ContextStorage own, ContextStorage inherited)
      implements ContextStorage {
    @Override
    public Scope attach(Context next) {
      return (inherits ? inherited : own).attach(next);
    }

    @Override
    public @Nullable Context current() {
      return (inherits ? inherited : own).current();
    }
  }

  @BeforeAll
  static void setStorage() {
    ContextStorage.addWrapper(own -> new Switchable(own, new InheritedStorage()));
  }

  private static Context contextOf(int number) {
    SpanContext span =
        SpanContext.create(
            "%032x".formatted(number),
            "%016x".formatted(number),
            TraceFlags.getSampled(),
            TraceState.getDefault());
    return Context.root()
        .with(Span.wrap(span))
        .with(Baggage.builder().put("number", "" + number).build());
  }

  /** Returns the number of the current context, from its span and its baggage; 0 if none. */
  private static int current() {
    int fromSpan = Integer.parseInt(Span.current().getSpanContext().getSpanId(), 16);
    String fromBaggage = Baggage.current().getEntryValue("number");
    assertThat(fromBaggage == null ? 0 : Integer.parseInt(fromBaggage)).isEqualTo(fromSpan);
    return fromSpan;
  }

  @Test
  void aContextStaysWithItsFiber() throws Exception {
    try (Scheduler scheduler =
        Scheduler.builder().threads(2).policy(Policy.workStealing()).build().start()) {
      List<Fiber<Void>> fibers = new ArrayList<>();
      for (int i = 1; i <= 200; i++) {
        int number = i;
        fibers.add(scheduler.go(FiberOptions.named("f" + i), () -> passThroughWaits(number)));
      }
      for (Fiber<Void> fiber : fibers) {
        fiber.join();
      }
    }
  }

  private static void passThroughWaits(int number) throws Exception {
    assertThat(current()).isZero();
    try (Scope _ = contextOf(number).makeCurrent()) {
      Fiber.yield();
      assertThat(current()).isEqualTo(number);
      Fiber.sleep(Duration.ofMillis(number % 5));
      assertThat(current()).isEqualTo(number);
      Thread.sleep(number % 3);
      assertThat(current()).isEqualTo(number);
      assertThat(Weft.blocking(OpenTelemetryTest::current)).isEqualTo(number);
      List<Integer> seen = new ArrayList<>();
      Coroutine coroutine =
          Coroutine.of(
              () -> {
                seen.add(current());
                Coroutine.yield();
                seen.add(current());
              });
      coroutine.resume();
      coroutine.resume();
      assertThat(seen).containsExactly(number, number);
    }
    assertThat(current()).isZero();
  }

  @Test
  void aNewFiberHasTheContextThatItIsGiven() throws Exception {
    Weft.run(
        () -> {
          try (Scope _ = contextOf(7).makeCurrent()) {
            assertThat(Weft.go(OpenTelemetryTest::current).join()).isZero();
            assertThat(Weft.go(Context.current().wrapSupplier(OpenTelemetryTest::current)::get))
                .satisfies(fiber -> assertThat(fiber.join()).isEqualTo(7));
          }
        });
  }

  @Test
  void anExecutorThatWrapsASchedulerPassesTheContextOn() throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(2).build().start();
        Scope _ = contextOf(8).makeCurrent()) {
      Executor executor = Context.taskWrapping(scheduler);
      assertThat(CompletableFuture.supplyAsync(OpenTelemetryTest::current, executor).get())
          .isEqualTo(8);
    }
  }

  @Test
  void aScopedValuePassesTheContextToAllFibersOfAScope() throws Exception {
    Weft.run(
        () ->
            ScopedValue.where(CONTEXT, contextOf(9))
                .call(
                    () -> {
                      try (dev.weft.Scope scope = dev.weft.Scope.open()) {
                        Fiber<Integer> child = scope.go(OpenTelemetryTest::ofScopedValue);
                        Fiber<Integer> grandchild =
                            scope.go(() -> scope.go(OpenTelemetryTest::ofScopedValue).join());
                        scope.join();
                        assertThat(child.join()).isEqualTo(9);
                        assertThat(grandchild.join()).isEqualTo(9);
                      }
                      return null;
                    }));
  }

  private static int ofScopedValue() throws InterruptedException {
    try (Scope _ = CONTEXT.get().makeCurrent()) {
      Fiber.sleep(Duration.ofMillis(1));
      return current();
    }
  }

  @Test
  void anInheritedStoragePassesTheContextToEveryFiber() throws Exception {
    inherits = true;
    try {
      Weft.run(
          () -> {
            try (Scope _ = contextOf(10).makeCurrent()) {
              Fiber<Integer> child = Weft.go(() -> Weft.go(OpenTelemetryTest::current).join());
              assertThat(child.join()).isEqualTo(10);
              try (dev.weft.Scope scope = dev.weft.Scope.open()) {
                Fiber<Integer> member = scope.go(OpenTelemetryTest::current);
                scope.join();
                assertThat(member.join()).isEqualTo(10);
              }
            }
            assertThat(Weft.go(OpenTelemetryTest::current).join()).isZero();
          });
    } finally {
      inherits = false;
    }
  }
}
