package dev.weft.testkit;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;

/**
 * Fails a test during which Weft has noticed a fault of its own, such as a lost wake-up that the
 * watchdog has repaired: in this JVM, or in a JVM that {@link Command} has started. The watchdog
 * needs a quarter of a second to be sure of a lost wake-up, so after each test this class waits for
 * the watchdog's answer if a worker is asleep beside a ready fiber. After the last test it checks
 * once more, and then fails the run.
 *
 * <p>The counter is in weft-core, which this module does not depend on: without weft-core there are
 * no faults.
 */
public final class FaultGuard implements AfterEachCallback {
  private static final MethodHandle COUNT = find("count", MethodType.methodType(long.class));
  private static final MethodHandle FORGET =
      find("forget", MethodType.methodType(void.class, long.class));
  private static final MethodHandle AWAIT =
      find("awaitSuspected", MethodType.methodType(void.class));

  /** How the log names a fault. */
  private static final String MARK = "a fault of Weft's";

  // the first line of another JVM that names a fault, until a test has failed for it
  private static final AtomicReference<@Nullable String> ELSEWHERE = new AtomicReference<>();

  /** Made by JUnit, which finds this class through {@code META-INF/services}. */
  public FaultGuard() {}

  @Override
  public void afterEach(ExtensionContext test) throws Exception {
    test.getRoot()
        .getStore(Namespace.create(FaultGuard.class))
        .computeIfAbsent(FaultGuard.class, key -> (AutoCloseable) FaultGuard::checkAfterLastTest);
    check("in or before " + test.getDisplayName());
  }

  /** Called by JUnit when it has run all tests; what is thrown here fails the run. */
  private static void checkAfterLastTest() {
    check("after the last test");
  }

  private static void check(String when) {
    long faults;
    try {
      AWAIT.invokeExact();
      faults = (long) COUNT.invokeExact();
      FORGET.invokeExact(faults); // the next test starts anew
    } catch (Throwable e) {
      throw new IllegalStateException("cannot count Weft's faults", e);
    }
    if (faults != 0) {
      throw new AssertionError(
          "Weft has noticed %d faults of its own, see the log; %s".formatted(faults, when));
    }
    String elsewhere = ELSEWHERE.getAndSet(null);
    if (elsewhere != null) {
      throw new AssertionError(
          "Weft has noticed a fault of its own in another JVM, %s: %s".formatted(when, elsewhere));
    }
  }

  /** Fails if an output of another JVM names a fault of Weft's. */
  public static void checkOutput(String output) {
    output
        .lines()
        .filter(line -> line.contains(MARK))
        .findFirst()
        .ifPresent(
            line -> {
              throw new AssertionError(
                  "Weft has noticed a fault of its own: " + line + "\n\n" + output);
            });
  }

  /** Fails the current test, or the next, if a line of another JVM names a fault of Weft's. */
  static void noteLine(String line) {
    if (line.contains(MARK)) {
      ELSEWHERE.compareAndSet(null, line);
    }
  }

  private static MethodHandle find(String name, MethodType type) {
    return find("dev.weft.internal.Faults", name, type);
  }

  /** Returns a static method, or a method that does nothing if there is no such class. */
  static MethodHandle find(String className, String name, MethodType type) {
    try {
      return MethodHandles.publicLookup().findStatic(Class.forName(className), name, type);
    } catch (ClassNotFoundException e) {
      return MethodHandles.empty(type);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(
          "cannot find %s%s in %s: adapt FaultGuard".formatted(name, type, className), e);
    }
  }
}
