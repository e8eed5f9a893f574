package dev.weft.internal.hook;

import java.util.AbstractMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The field {@code map} of a {@code sun.nio.ch.Poller} that Weft has replaced: the threads that
 * wait for descriptors. The JDK puts a thread in before each wait, removes it after, and looks it
 * up if the descriptor is closed meanwhile. Descriptors are small numbers, so it is a table: a wait
 * computes no hash and allocates no entry.
 *
 * <p>JDK 25's {@code Poller} calls put, remove and size. Every other method of a map answers right
 * too, or throws {@link UnsupportedOperationException}: none changes a copy and seems to succeed.
 *
 * <p>Invariant: a thread that Weft serves is in the table, a thread that is left to the original
 * poller in the original's map, where that poller looks; a look-up here finds both.
 */
final class WaitingThreads extends AbstractMap<Integer, Thread> {
  private static final int PAGE = 1024;
  private static final int PAGES = 1024;

  private final Map<Integer, Thread> ofOriginal;
  private final AtomicReferenceArray<@Nullable AtomicReferenceArray<@Nullable Thread>> pages =
      new AtomicReferenceArray<>(PAGES);

  WaitingThreads(Map<Integer, Thread> ofOriginal) {
    this.ofOriginal = ofOriginal;
  }

  /**
   * Called by the waiting thread, which then takes a lock of Weft's or is {@linkplain #leave left
   * to the original}, and then checks whether the descriptor is still open: no fence is needed
   * here.
   */
  @Override
  public @Nullable Thread put(Integer fd, Thread thread) {
    int number = fd;
    if (number >= PAGE * PAGES) {
      return ofOriginal.put(fd, thread);
    }
    AtomicReferenceArray<@Nullable Thread> page = page(number / PAGE);
    Thread before = page.getPlain(number % PAGE);
    page.setRelease(number % PAGE, thread);
    return before;
  }

  @Override
  public @Nullable Thread get(Object key) {
    int fd = (Integer) key;
    AtomicReferenceArray<@Nullable Thread> page = fd < PAGE * PAGES ? pages.get(fd / PAGE) : null;
    Thread thread = page == null ? null : page.get(fd % PAGE);
    return thread != null ? thread : ofOriginal.get(key);
  }

  @Override
  public boolean containsKey(Object key) {
    return get(key) != null;
  }

  private AtomicReferenceArray<@Nullable Thread> page(int index) {
    AtomicReferenceArray<@Nullable Thread> page = pages.get(index);
    if (page != null) {
      return page;
    }
    pages.compareAndSet(index, null, new AtomicReferenceArray<>(PAGE));
    return page(index);
  }

  @Override
  public @Nullable Thread remove(Object key) {
    Thread thread = take((Integer) key);
    return thread != null || ofOriginal.isEmpty() ? thread : ofOriginal.remove(key);
  }

  private @Nullable Thread take(int fd) {
    AtomicReferenceArray<@Nullable Thread> page = fd < PAGE * PAGES ? pages.get(fd / PAGE) : null;
    return page == null ? null : page.getAndSet(fd % PAGE, null);
  }

  /** Leaves a thread that has just been put in to the original poller. */
  void leave(int fd) {
    Thread thread = take(fd);
    if (thread != null) { // null: a close of the descriptor has taken and unparked it
      ofOriginal.put(fd, thread);
    }
  }

  // ---- steps that would have to be atomic over the table and the original's map ----

  @Override
  public Thread putIfAbsent(Integer fd, Thread thread) {
    throw refuse();
  }

  @Override
  public boolean remove(Object fd, Object thread) {
    throw refuse();
  }

  @Override
  public Thread replace(Integer fd, Thread thread) {
    throw refuse();
  }

  @Override
  public boolean replace(Integer fd, Thread before, Thread after) {
    throw refuse();
  }

  @Override
  public void replaceAll(BiFunction<? super Integer, ? super Thread, ? extends Thread> function) {
    throw refuse();
  }

  @Override
  public Thread computeIfAbsent(Integer fd, Function<? super Integer, ? extends Thread> function) {
    throw refuse();
  }

  @Override
  public Thread computeIfPresent(
      Integer fd, BiFunction<? super Integer, ? super Thread, ? extends Thread> function) {
    throw refuse();
  }

  @Override
  public Thread compute(
      Integer fd,
      BiFunction<? super Integer, ? super @Nullable Thread, ? extends Thread> function) {
    throw refuse();
  }

  @Override
  public Thread merge(
      Integer fd,
      Thread thread,
      BiFunction<? super Thread, ? super Thread, ? extends Thread> function) {
    throw refuse();
  }

  private static UnsupportedOperationException refuse() {
    return new UnsupportedOperationException(
        "JDK %s asks more of the map of waiting threads than Weft's hook knows: start with -Dweft.hook=off"
            .formatted(Runtime.version()));
  }

  /** Returns an unmodifiable copy, for diagnosis. */
  @Override
  public Set<Entry<Integer, Thread>> entrySet() {
    Map<Integer, Thread> all = new HashMap<>(ofOriginal);
    for (int i = 0; i < PAGES; i++) {
      AtomicReferenceArray<@Nullable Thread> page = pages.get(i);
      for (int j = 0; page != null && j < PAGE; j++) {
        Thread thread = page.get(j);
        if (thread != null) {
          all.put(i * PAGE + j, thread);
        }
      }
    }
    return Map.copyOf(all).entrySet();
  }
}
