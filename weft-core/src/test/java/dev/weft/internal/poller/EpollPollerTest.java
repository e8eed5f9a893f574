package dev.weft.internal.poller;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.testkit.Feature;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntBinaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX)
class EpollPollerTest {
  private static final int ENOSPC = 28;

  /** Whether the descriptors belong to an open epoll and an open eventfd. */
  private static boolean areOpen(List<Integer> descriptors) {
    return descriptors.stream().anyMatch(fd -> kindOf(fd).contains("event"));
  }

  private static String kindOf(int fd) {
    try {
      return Files.readSymbolicLink(Path.of("/proc/self/fd/" + fd)).toString();
    } catch (IOException e) {
      return "closed";
    }
  }

  @Test
  @Feature("I7")
  void aPollerThatCannotBeMadeLeavesNoDescriptorOpen() {
    for (RuntimeException failure :
        List.of(new UncheckedIOException(new IOException()), new IllegalStateException())) {
      List<Integer> opened = new ArrayList<>();
      IntBinaryOperator watch =
          (epoll, eventfd) -> {
            opened.addAll(List.of(epoll, eventfd));
            assertThat(areOpen(opened)).isTrue();
            if (failure instanceof IllegalStateException) {
              throw failure;
            }
            return -ENOSPC; // more registrations than the system allows a user
          };
      assertThatThrownBy(() -> EpollPoller.open(watch)).isInstanceOf(failure.getClass());
      assertThat(opened).hasSize(2);
      assertThat(areOpen(opened)).isFalse();
    }
  }

  @Test
  @Feature("I7")
  void theFailureOfAPollerNamesTheCallAndTheReason() {
    assertThatThrownBy(() -> EpollPoller.open((epoll, eventfd) -> -ENOSPC))
        .hasMessageContaining("cannot poll: epoll_ctl: No space left on device");
  }
}
