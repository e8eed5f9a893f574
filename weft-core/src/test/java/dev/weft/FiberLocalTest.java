package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The state of each fiber: name, id, thread locals, scoped values. */
@Feature("S14")
class FiberLocalTest {
  private static final ScopedValue<Integer> SCOPED = ScopedValue.newInstance();
  private static final ThreadLocal<Integer> LOCAL = ThreadLocal.withInitial(() -> -1);
  private static final InheritableThreadLocal<String> INHERITED = new InheritableThreadLocal<>();

  @Test
  void idsAreUniqueAndIncreaseAndNamesAreGivenOrMadeOfThem() {
    try (Scheduler scheduler = Scheduler.builder().threads(2).build().start()) {
      Set<Long> ids = new HashSet<>();
      long last = 0;
      for (int i = 0; i < 100; i++) {
        Fiber<Void> fiber = scheduler.go(() -> {});
        assertThat(fiber.id()).isGreaterThan(last);
        assertThat(fiber.name()).isEqualTo("fiber-" + fiber.id());
        assertThat(fiber.toString()).isEqualTo("fiber " + fiber.id());
        last = fiber.id();
        assertThat(ids.add(last)).isTrue();
      }
      Fiber<Void> named = scheduler.go(FiberOptions.named("Weber").priority(3), () -> {});
      assertThat(named.name()).isEqualTo("Weber");
      assertThat(named.priority()).isEqualTo(3);
      assertThat(named.toString()).isEqualTo("fiber " + named.id() + " (Weber)");
      assertThat(named.thread().getName()).isEqualTo("Weber");
      assertThat(named.thread().isVirtual()).isTrue();
      assertThat(named.thread()).isSameAs(named.thread());
    }
  }

  @Test
  void threadLocalsAreApart() throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      List<Fiber<Void>> fibers = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        int mine = i;
        fibers.add(
            scheduler.go(
                () -> {
                  assertThat(LOCAL.get()).isEqualTo(-1);
                  LOCAL.set(mine);
                  for (int k = 0; k < 5; k++) {
                    Fiber.yield();
                    assertThat(LOCAL.get()).isEqualTo(mine);
                    Fiber.sleep(Duration.ofNanos(1));
                    assertThat(LOCAL.get()).isEqualTo(mine);
                  }
                }));
      }
      for (Fiber<Void> fiber : fibers) {
        fiber.join();
      }
    }
    assertThat(LOCAL.get()).isEqualTo(-1);
  }

  @Test
  void inheritableThreadLocalsComeFromTheCallerOfGo() throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      INHERITED.set("caller");
      try {
        Fiber<String> fiber =
            scheduler.go(
                () -> {
                  String mine = INHERITED.get();
                  INHERITED.set("fiber");
                  return mine + ", " + scheduler.go(() -> INHERITED.get()).join();
                });
        assertThat(fiber.join()).isEqualTo("caller, fiber");
        assertThat(INHERITED.get()).isEqualTo("caller");
      } finally {
        INHERITED.remove();
      }
      assertThat(scheduler.go(() -> INHERITED.get() == null).join()).isTrue();
    }
  }

  @Test
  void theContextClassLoaderComesFromTheCallerOfGo() throws Exception {
    Thread me = Thread.currentThread();
    ClassLoader before = me.getContextClassLoader();
    ClassLoader own = new ClassLoader(before) {};
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      me.setContextClassLoader(own);
      assertThat(scheduler.go(() -> Thread.currentThread().getContextClassLoader()).join())
          .isSameAs(own);
    } finally {
      me.setContextClassLoader(before);
    }
  }

  @Test
  void scopedValuesHoldAcrossSuspensionsAndAreApart() throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(2).build().start();
        Scheduler other = Scheduler.builder().threads(1).build().start()) {
      List<Fiber<Void>> fibers = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        int mine = i;
        fibers.add(
            scheduler.go(
                () -> {
                  assertThat(SCOPED.isBound()).isFalse();
                  ScopedValue.where(SCOPED, mine)
                      .call(
                          () -> {
                            for (int k = 0; k < 5; k++) {
                              Fiber.yield();
                              assertThat(SCOPED.get()).isEqualTo(mine);
                              Fiber.sleep(Duration.ofNanos(1));
                              assertThat(SCOPED.get()).isEqualTo(mine);
                              Fiber.switchTo(k % 2 == 0 ? other : scheduler);
                              assertThat(SCOPED.get()).isEqualTo(mine);
                            }
                            return null;
                          });
                  assertThat(SCOPED.isBound()).isFalse();
                }));
      }
      for (Fiber<Void> fiber : fibers) {
        fiber.join();
      }
      assertThat(
              ScopedValue.where(SCOPED, 1).call(() -> scheduler.go(() -> SCOPED.isBound())).join())
          .as("a fiber outlives the binding around go, so it does not see it")
          .isFalse();
    }
  }
}
