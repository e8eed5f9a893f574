package dev.weft.testkit;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails a test during which Weft has noticed a fault of its own, such as a lost wake-up that the
 * watchdog has repaired. The counter is in weft-core, which this module does not depend on: without
 * weft-core there are no faults.
 */
public final class FaultGuard implements AfterEachCallback {
  private static final MethodHandle COUNT = find("count", MethodType.methodType(long.class));
  private static final MethodHandle FORGET =
      find("forget", MethodType.methodType(void.class, long.class));

  /** Made by JUnit, which finds this class through {@code META-INF/services}. */
  public FaultGuard() {}

  @Override
  public void afterEach(ExtensionContext test) throws Exception {
    long faults;
    try {
      faults = (long) COUNT.invokeExact();
      FORGET.invokeExact(faults); // the next test starts anew
    } catch (Throwable e) {
      throw new IllegalStateException("cannot count Weft's faults", e);
    }
    if (faults != 0) {
      throw new AssertionError(
          "Weft has noticed %d faults of its own, see the log; in or before %s"
              .formatted(faults, test.getDisplayName()));
    }
  }

  private static MethodHandle find(String name, MethodType type) {
    try {
      Class<?> faults = Class.forName("dev.weft.internal.Faults");
      return MethodHandles.publicLookup().findStatic(faults, name, type);
    } catch (ReflectiveOperationException e) {
      return MethodHandles.empty(type);
    }
  }
}
