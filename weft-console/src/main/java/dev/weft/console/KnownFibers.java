package dev.weft.console;

import dev.weft.internal.sched.FiberCore;
import java.lang.ref.WeakReference;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The fibers that pages have listed lately, by id: to find one again needs no walk. */
final class KnownFibers {
  private static final int MOST = 10_000;

  // weak: to be listed keeps no fiber alive, so a leaked fiber is still found to be that
  private final Map<Long, WeakReference<FiberCore<?>>> byId =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, WeakReference<FiberCore<?>>> eldest) {
          return size() > MOST;
        }
      };

  synchronized void addAll(Collection<FiberCore<?>> fibers) {
    fibers.forEach(fiber -> byId.put(fiber.id(), new WeakReference<>(fiber)));
  }

  synchronized @Nullable FiberCore<?> get(long id) {
    WeakReference<FiberCore<?>> known = byId.get(id);
    return known == null ? null : known.get();
  }
}
