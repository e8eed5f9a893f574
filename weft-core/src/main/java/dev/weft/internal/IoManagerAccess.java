package dev.weft.internal;

import dev.weft.io.IoManager;
import java.lang.invoke.MethodHandles;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Lets schedulers create an {@link IoManager}, which users cannot. */
public final class IoManagerAccess {
  private static @Nullable Function<IoHost, IoManager> factory;

  private IoManagerAccess() {}

  /** Called by {@link IoManager} when it is initialized. */
  public static void setFactory(Function<IoHost, IoManager> newFactory) {
    factory = newFactory;
  }

  /** Creates the I/O events of a scheduler. */
  public static IoManager newIoManager(IoHost host) {
    try {
      MethodHandles.lookup().ensureInitialized(IoManager.class);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
    return Objects.requireNonNull(factory).apply(host);
  }
}
