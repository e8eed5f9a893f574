package dev.weft;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** Collects Weft's log entries while it is open, instead of printing them. */
final class LogCapture implements AutoCloseable {
  record Entry(String level, String text, Throwable thrown) {}

  private final Logger logger = Logger.getLogger("dev.weft");
  private final boolean usedParents = logger.getUseParentHandlers();
  private final List<Entry> entries = new CopyOnWriteArrayList<>();
  private final Handler handler =
      new Handler() {
        private final SimpleFormatter formatter = new SimpleFormatter();

        @Override
        public void publish(LogRecord record) {
          entries.add(
              new Entry(
                  record.getLevel().getName(),
                  formatter.formatMessage(record),
                  record.getThrown()));
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  LogCapture() {
    logger.setUseParentHandlers(false);
    logger.addHandler(handler);
  }

  /** Returns the entries that contain all of the words, in order. */
  List<Entry> entries(String... words) {
    return entries.stream()
        .filter(entry -> List.of(words).stream().allMatch(entry.text::contains))
        .toList();
  }

  @Override
  public void close() {
    logger.removeHandler(handler);
    logger.setUseParentHandlers(usedParents);
  }
}
