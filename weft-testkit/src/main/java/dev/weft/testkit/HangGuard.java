package dev.weft.testkit;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.PreInterruptCallback;
import org.junit.jupiter.api.extension.PreInterruptContext;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;

/**
 * Shows why a test hangs. When a test exceeds its time limit (see {@code
 * junit-platform.properties}) JUnit interrupts it; before that, this class prints the stacks of all
 * threads to stderr. If the test does not end after the interrupt, this class ends the JVM.
 */
public final class HangGuard implements PreInterruptCallback, TestExecutionListener {
  /** How long a test may take to end after its interrupt. */
  private static final Duration GRACE = Duration.ofSeconds(Long.getLong("weft.test.grace", 10));

  /** The exit status of a JVM that ends because of a hanging test. */
  static final int EXIT_STATUS = 86;

  // interrupted tests that have not ended: unique id, and the thread that waits for the end
  private static final Map<String, Thread> INTERRUPTED = new ConcurrentHashMap<>();

  /** Made by JUnit, which finds this class through {@code META-INF/services}. */
  public HangGuard() {}

  @Override
  public void beforeThreadInterrupt(PreInterruptContext interrupt, ExtensionContext test) {
    String name = test.getTestClass().map(Class::getName).orElse("") + " " + test.getDisplayName();
    System.err.println(name + " is over its time limit. All threads:\n" + stacks());
    INTERRUPTED.computeIfAbsent(
        test.getUniqueId(), id -> Thread.ofPlatform().daemon().start(() -> waitForEnd(id, name)));
  }

  @Override
  public void executionFinished(TestIdentifier test, TestExecutionResult result) {
    Thread waiting = INTERRUPTED.remove(test.getUniqueId());
    if (waiting != null) {
      waiting.interrupt();
    }
  }

  private static void waitForEnd(String id, String name) {
    try {
      Thread.sleep(GRACE);
    } catch (InterruptedException ended) {
      return;
    }
    if (INTERRUPTED.containsKey(id)) {
      System.err.println(
          "%s did not heed its interrupt for %d s: ending the JVM. All threads:\n%s"
              .formatted(name, GRACE.toSeconds(), stacks()));
      Runtime.getRuntime().halt(EXIT_STATUS);
    }
  }

  /** Returns the stacks of all platform and virtual threads. */
  private static String stacks() {
    try {
      Path folder = Files.createTempDirectory("weft-threads-");
      Path file = folder.resolve("threads.txt");
      try {
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
            .dumpThreads(file.toString(), HotSpotDiagnosticMXBean.ThreadDumpFormat.TEXT_PLAIN);
        return Files.readString(file);
      } finally {
        Files.deleteIfExists(file);
        Files.delete(folder);
      }
    } catch (IOException e) {
      return "no thread dump: " + e;
    }
  }
}
