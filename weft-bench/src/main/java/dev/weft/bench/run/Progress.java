package dev.weft.bench.run;

import java.io.PrintStream;
import java.time.Duration;
import java.util.Locale;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/** Tells how far a run is and how long it will take: a bar on a terminal, else a line at times. */
public interface Progress extends AutoCloseable {
  /** Names the step that starts now. */
  void next(String what);

  /** Says that the step has ended. */
  void done();

  @Override
  void close();

  /** Returns a progress of so many steps on the error stream. */
  static Progress of(int steps, PrintStream err) {
    return Terminal.isStderr() ? new OnTerminal(steps, err) : new InLines(steps, err);
  }

  /** A bar that redraws itself. */
  final class OnTerminal implements Progress {
    private final ProgressBar bar;

    OnTerminal(int steps, PrintStream err) {
      bar =
          new ProgressBarBuilder()
              .setTaskName("bench")
              .setInitialMax(steps)
              .setStyle(ProgressBarStyle.UNICODE_BLOCK)
              .setUpdateIntervalMillis(500)
              .setConsumer(new ConsoleProgressBarConsumer(err))
              .build();
    }

    @Override
    public void next(String what) {
      // padded, so that the bar keeps its length
      bar.setExtraMessage(String.format(Locale.ROOT, " %-32s", what));
    }

    @Override
    public void done() {
      bar.step();
    }

    @Override
    public void close() {
      bar.setExtraMessage("");
      bar.close();
    }
  }

  /** A line for the first step and for every tenth of the way. */
  final class InLines implements Progress {
    private final int steps;
    private final PrintStream err;
    private final long started = System.nanoTime();
    private int done;

    InLines(int steps, PrintStream err) {
      this.steps = steps;
      this.err = err;
      err.println("bench: " + steps + " runs, each in a JVM of its own");
    }

    @Override
    public void next(String what) {}

    @Override
    public void done() {
      done++;
      boolean tenth = done * 10 / steps > (done - 1) * 10 / steps;
      if (done == 1 || tenth) {
        Duration left =
            Duration.ofNanos((System.nanoTime() - started) / done).multipliedBy(steps - done);
        err.println("bench: " + done + " of " + steps + ", about " + left.toSeconds() + " s left");
      }
    }

    @Override
    public void close() {}
  }
}
