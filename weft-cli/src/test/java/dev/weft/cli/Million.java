package dev.weft.cli;

import com.sun.management.GarbageCollectionNotificationInfo;
import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.channel.Channel;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import javax.management.NotificationEmitter;
import javax.management.openmbean.CompositeData;

/**
 * A program with a million fibers, for tests to look into. It measures how much its heap grows
 * meanwhile. What is in use after each collection of the young generation counts, so garbage that
 * waits for its collection does not; the young generation is small, so that there are many
 * collections, and the most that any of them found is the answer.
 *
 * <p>The heap has its full size from the start. In a heap that still grows, {@code System.gc()} of
 * the serial collector can fill the old generation and leave some of the million fibers in the
 * young one. Then the JVM allocates slowly, in the old generation, and collects no garbage before
 * that is full again ({@code -Xlog:gc*} shows it): a dump took 12 s instead of 3 s, and 700 MB of
 * garbage looked like memory that it needs.
 */
final class Million {
  static final int FIBERS = 1_000_000;

  private static final Set<String> HEAP =
      ManagementFactory.getMemoryPoolMXBeans().stream()
          .filter(pool -> pool.getType() == MemoryType.HEAP)
          .map(MemoryPoolMXBean::getName)
          .collect(Collectors.toSet());

  private static final Object LOCK = new Object();
  private static long most; // guarded by LOCK
  private static int collections; // guarded by LOCK

  private Million() {}

  /** The flags to start it with. */
  static String[] flags() {
    return new String[] {
      "-Xms2g", "-Xmx2g", "-Xmn32m", "-XX:+UseSerialGC", "-Dweft.console=0", Million.class.getName()
    };
  }

  /**
   * Answers "watch" with the bytes in use, and "most" with the most since and how it was found;
   * "still" when the heart has stopped, so that all fibers wait.
   */
  public static void main(String[] args) throws Exception {
    Scheduler scheduler = Scheduler.builder().name("many").threads(2).build().start();
    Channel<Integer> channel = Channel.rendezvous();
    Fiber<Void> heart = scheduler.go(FiberOptions.named("heartbeat"), Million::beat);
    for (int i = 2; i < FIBERS; i++) {
      int depth = i % 3;
      scheduler.go(() -> receive(channel, depth));
    }
    Fiber<Void> needle = scheduler.go(FiberOptions.named("needle"), () -> receive(channel, 0));
    while (scheduler.stats().waiting() < FIBERS - 1) {
      Thread.sleep(50);
    }
    for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
      ((NotificationEmitter) bean)
          .addNotificationListener(
              (notification, _) -> collected((CompositeData) notification.getUserData()),
              null,
              null);
    }
    System.out.println("needle " + needle.id());
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      if (line.equals("watch")) {
        System.gc();
        long used = inUse();
        synchronized (LOCK) {
          most = 0;
          collections = 0;
        }
        System.out.println("used " + used);
      } else if (line.equals("still")) {
        heart.cancel();
        heart.thread().join();
        System.out.println("still");
      } else {
        synchronized (LOCK) {
          System.out.println("most " + most + " of " + collections);
        }
      }
    }
    System.exit(0);
  }

  /** As a service does: without it the program would stand still, a deadlock. */
  private static void beat() throws InterruptedException {
    while (true) {
      Fiber.sleep(Duration.ofMillis(100));
    }
  }

  private static void receive(Channel<Integer> channel, int depth) throws Exception {
    if (depth > 0) {
      receive(channel, depth - 1);
    } else {
      channel.receive();
    }
  }

  private static long inUse() {
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  private static void collected(CompositeData data) {
    Map<String, MemoryUsage> after =
        GarbageCollectionNotificationInfo.from(data).getGcInfo().getMemoryUsageAfterGc();
    long used =
        after.entrySet().stream()
            .filter(pool -> HEAP.contains(pool.getKey()))
            .mapToLong(pool -> pool.getValue().getUsed())
            .sum();
    synchronized (LOCK) {
      most = Math.max(most, used);
      collections++;
    }
  }
}
