package dev.weft.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Fiber;
import dev.weft.Scheduler;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** The snippet of the Javadoc of I/O events. */
class IoSnippetsTest {
  private final List<String> out = new CopyOnWriteArrayList<>();

  @Test
  void events() throws Exception {
    Pipe pipe = Pipe.open();
    pipe.source().configureBlocking(false);
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      // @start region="events"
      IoManager io = scheduler.io();
      io.addEvent(
          pipe.source(),
          IoEvent.READ,
          () -> {
            out.add("called back"); // in a fiber: it may block
            io.addEvent(pipe.source(), IoEvent.READ); // once more, for this fiber
            Fiber.suspend(); // until it is ready
            out.add("scheduled");
          });
      pipe.sink().write(ByteBuffer.wrap(new byte[] {1}));
      // @end
    }
    assertThat(out).containsExactly("called back", "scheduled");
    pipe.source().close();
    pipe.sink().close();
  }
}
