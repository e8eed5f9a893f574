package dev.weft.internal.switching;

import java.util.stream.Stream;

/** The threads of this JVM. */
final class LiveThreads {
  private LiveThreads() {}

  /** Returns the platform threads that have started and not ended. */
  static Stream<Thread> ofPlatform() {
    ThreadGroup group = Thread.currentThread().getThreadGroup();
    while (group.getParent() != null) {
      group = group.getParent();
    }
    Thread[] all = new Thread[group.activeCount() + 100];
    return Stream.of(all).limit(group.enumerate(all));
  }
}
