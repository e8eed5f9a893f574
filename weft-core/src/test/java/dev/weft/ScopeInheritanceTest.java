package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.weft.testkit.Feature;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Scoped values in scopes. */
@Feature("S14")
class ScopeInheritanceTest {
  private static final ScopedValue<String> USER = ScopedValue.newInstance();

  @ParameterizedTest
  @EnumSource
  void fibersSeeTheOpenersBindings(ScopeTest.Opener opener) throws Exception {
    opener.run(
        () ->
            ScopedValue.where(USER, "Ada")
                .run(
                    () -> {
                      try (Scope scope = Scope.open()) {
                        scope.go(
                            () -> {
                              assertThat(USER.get()).isEqualTo("Ada");
                              Fiber.yield();
                              assertThat(USER.get()).isEqualTo("Ada");
                              ScopedValue.where(USER, "Bob").run(ScopeInheritanceTest::deeper);
                              assertThat(USER.get()).isEqualTo("Ada");
                            });
                        scope.join();
                      }
                    }));
  }

  private static void deeper() {
    try (Scope scope = Scope.open()) {
      scope.go(() -> assertThat(USER.get()).isEqualTo("Bob"));
      scope.join();
    }
  }

  @ParameterizedTest
  @EnumSource
  void theBindingsSurviveAStackOverflow(ScopeTest.Opener opener) throws Exception {
    opener.run(
        () ->
            ScopedValue.where(USER, "Ada")
                .run(
                    () -> {
                      try (Scope scope = Scope.open()) {
                        scope.go(
                            () -> {
                              try {
                                ScopedValue.where(USER, "Bob").run(() -> overflow(0));
                              } catch (StackOverflowError e) {
                                assertThat(USER.get()).isEqualTo("Ada");
                              }
                            });
                        scope.join();
                      }
                    }));
  }

  @SuppressWarnings("InfiniteRecursion")
  private static int overflow(int depth) {
    return overflow(depth + 1) + 1;
  }

  @ParameterizedTest
  @EnumSource
  void goWithOtherBindingsThanAtOpenIsRefused(ScopeTest.Opener opener) throws Exception {
    opener.run(
        () -> {
          try (Scope scope = Scope.open()) {
            ScopedValue.where(USER, "Ada")
                .run(
                    () ->
                        assertThatIllegalStateException()
                            .isThrownBy(() -> scope.go(() -> {}))
                            .withMessageContaining("other scoped values are bound"));
            scope.go(() -> assertThat(USER.isBound()).isFalse());
            scope.join();
          }
        });
  }
}
