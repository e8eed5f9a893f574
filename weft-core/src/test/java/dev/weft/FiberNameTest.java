package dev.weft;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static dev.weft.internal.sched.Cores.core;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.internal.sched.SchedulerCore;
import dev.weft.testkit.Feature;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A fiber and its thread have the same name. */
@Feature("S14")
class FiberNameTest {
  private static FiberOptions options(String name) {
    return name.isEmpty() ? SchedulerCore.DEFAULT_OPTIONS : FiberOptions.named(name);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "given"})
  void theThreadHasTheNameOfTheFiber(String name) throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      AtomicReference<String> inside = new AtomicReference<>();
      Fiber<Void> fiber =
          scheduler.go(
              options(name),
              () -> {
                inside.set(Thread.currentThread().getName());
                Fiber.suspend();
              });
      String expected = name.isEmpty() ? "fiber-" + fiber.id() : name;
      assertThat(fiber.name()).isEqualTo(expected);
      waits(fiber);
      assertThat(inside).hasValue(expected);
      assertThat(fiber.thread().getName()).isEqualTo(expected);
      assertThat(fiber.name()).isEqualTo(expected);
      scheduler.schedule(fiber);
      fiber.join();
      assertThat(fiber.name()).isEqualTo(expected);
      Fiber<Void> ended = scheduler.go(options(name), () -> {});
      ended.join();
      eventually("the fiber is retired", () -> core(ended).threadOrNull() == null);
      assertThat(ended.thread().getName()).isEqualTo(ended.name());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "given"})
  void aThreadThatIsRenamedRenamesTheFiber(String name) throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      Fiber<Void> fiber =
          scheduler.go(
              options(name),
              () -> {
                Thread.currentThread().setName("renamed");
                Fiber.suspend();
              });
      waits(fiber);
      assertThat(fiber.name()).isEqualTo("renamed");
      assertThat(fiber).hasToString("fiber " + fiber.id() + " (renamed)");
      assertThat(scheduler.dump().fibers())
          .extracting(FiberDump.Entry::name)
          .containsExactly("renamed");
      scheduler.schedule(fiber);
      fiber.join();
      eventually("the fiber is retired", () -> scheduler.stats().ended() == 1);
      assertThat(fiber.name()).as("after the fiber's end").isEqualTo("renamed");
      Fiber<Void> fromOutside = scheduler.go(options(name), () -> Fiber.suspend());
      fromOutside.thread().setName("from outside");
      assertThat(fromOutside.name()).isEqualTo("from outside");
      waits(fromOutside);
      scheduler.schedule(fromOutside);
    }
  }

  /** The end of a fiber decides whether its thread has been renamed. */
  @Test
  void namesThatLookLikeTheDefaultAreKept() throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      int ended = 0;
      for (String pattern :
          new String[] {"fiber-0%d", "fiber-1%d", "%d", "fiber%d", "a fiber-%d", "fiber-"}) {
        AtomicReference<String> name = new AtomicReference<>();
        Fiber<Void> fiber =
            scheduler.go(
                () -> {
                  name.set(pattern.formatted(Fiber.current().orElseThrow().id()));
                  Thread.currentThread().setName(name.get());
                });
        fiber.join();
        int count = ++ended;
        eventually("all fibers are retired", () -> scheduler.stats().ended() == count);
        assertThat(fiber.name()).isEqualTo(name.get());
      }
    }
  }

  @Test
  @Feature("S23")
  void aGuestHasTheUnchangedNameOfItsThread() throws Exception {
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      Fiber<Void> host =
          scheduler.go(
              () -> {
                AtomicReference<Fiber<?>> guest = new AtomicReference<>();
                Runnable body = () -> guest.set(Fiber.current().orElseThrow());
                Thread unnamed = Thread.startVirtualThread(body);
                unnamed.join();
                assertThat(unnamed.getName()).isEmpty();
                assertThat(guest.get().name()).isEqualTo("fiber-" + guest.get().id());
                Thread named = Thread.ofVirtual().name("named").start(body);
                named.join();
                assertThat(guest.get().name()).isEqualTo("named");
                named.setName("renamed");
                assertThat(guest.get().name()).isEqualTo("renamed");
              });
      host.join();
    }
  }
}
