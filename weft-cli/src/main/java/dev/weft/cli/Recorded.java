package dev.weft.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;
import org.jspecify.annotations.Nullable;

/**
 * What a recording says of fibers, added up. The recording is read event by event and may be much
 * larger than memory: sums are kept, and of single events the longest only.
 */
final class Recorded {
  /** How many single slices, calls and samples are kept. */
  private static final int MOST_SLICES = 3_000;

  private static final int MOST_CALLS = 20_000;
  private static final int MOST_SAMPLES = 50_000;
  private static final int MOST_HELD = 200;

  /** How many different stacks, or names, are told apart; the rest is one group. */
  private static final int MOST_GROUPS = 20_000;

  private static final Pattern MODULE = Pattern.compile("^\\s*(at )?([\\w.@-]*/+)*");
  private static final String OTHERS = "(others)";
  private static final Pattern NUMBERS =
      Pattern.compile("@[0-9a-f]{4,}|\\b(?=[a-f]*\\d)[0-9a-f]{6,8}\\b|\\d+");

  /** What a lock says of itself at the end of a wait: the same lock has said other things too. */
  private static final Pattern STATE_OF_LOCK = Pattern.compile(" \\((free|held\\b.*)\\)$");

  /** Frames of the JDK and of Weft under every wait: what is above them says where it happened. */
  private static final Pattern PLUMBING =
      Pattern.compile(
          "dev\\.weft\\.internal\\.|java\\.lang\\.(VirtualThread|System\\$)"
              + "|jdk\\.internal\\.|java\\.util\\.concurrent\\.locks\\.(LockSupport|Abstract)"
              + "|sun\\.nio\\.ch\\.");

  /** Frames of the JDK and of Weft. */
  private static final Pattern LIBRARY =
      Pattern.compile("(java|javax|jdk|sun|com\\.sun)\\.|dev\\.weft\\.");

  /** Waits, calls or slices that are alike. */
  static final class Sum {
    final String what;
    final String stack;
    long count;
    long nanos;
    long longest;
    private final Map<String, Long> fibers = new HashMap<>();

    Sum(String what, String stack) {
      this.what = what;
      this.stack = stack;
    }

    void add(String fiber, long took) {
      count++;
      nanos += took;
      longest = Math.max(longest, took);
      if (fibers.size() < 100 || fibers.containsKey(fiber)) {
        fibers.merge(fiber, 1L, Long::sum);
      }
    }

    /** The innermost frame that is the program's own, or empty. */
    String ownFrame() {
      return stack
          .lines()
          .filter(frame -> !LIBRARY.matcher(frame).lookingAt() && !frame.equals(what))
          .findFirst()
          .orElse("");
    }

    /** The names of its fibers, most frequent first. */
    List<String> fibers() {
      return fibers.entrySet().stream()
          .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
          .limit(3)
          .map(Map.Entry::getKey)
          .toList();
    }
  }

  /** One slice, call or held thread; times in nanoseconds since the start of the recording. */
  record Span(String fiber, String thread, long start, long nanos, String stack) {
    long end() {
      return start + nanos;
    }
  }

  /** One sample of what a thread did. */
  record Sample(String thread, long time, String stack) {}

  private final Path file;
  private @Nullable Instant start;
  private @Nullable Instant end;
  private String jvm = "";
  private final Map<String, Sum> ran = new HashMap<>();
  private final Map<String, Sum> waited = new HashMap<>();
  private final Map<String, Sum> called = new HashMap<>();
  private final Map<String, Sum> sampled = new HashMap<>();
  private final PriorityQueue<Span> slices =
      new PriorityQueue<>(Comparator.comparingLong(Span::nanos));
  private final PriorityQueue<Span> calls =
      new PriorityQueue<>(Comparator.comparingLong(Span::nanos));
  private final List<Span> held = new ArrayList<>();
  private final List<Sample> samples = new ArrayList<>();
  private final Map<String, Long> counts = new TreeMap<>();

  private Recorded(Path file) {
    this.file = file;
  }

  /**
   * Reads a recording.
   *
   * @throws IOException if the file is no recording
   */
  static Recorded read(Path file) throws IOException {
    Recorded recorded = new Recorded(file);
    try (RecordingFile events = new RecordingFile(file)) {
      while (events.hasMoreEvents()) {
        recorded.add(events.readEvent());
      }
    }
    return recorded;
  }

  private void add(RecordedEvent event) {
    Instant begin = event.getStartTime();
    start = start == null || begin.isBefore(start) ? begin : start;
    end = end == null || event.getEndTime().isAfter(end) ? event.getEndTime() : end;
    String type = event.getEventType().getName();
    if (type.startsWith("dev.weft.") && !type.endsWith(".CarrierMark")) {
      counts.merge(type.substring("dev.weft.".length()), 1L, Long::sum);
    }
    switch (type) {
      case "dev.weft.FiberSlice" -> addSlice(event);
      case "dev.weft.FiberWait" -> addWait(event);
      case "dev.weft.FiberPark" -> addPark(event);
      case "dev.weft.BlockingCall" -> addCall(event);
      case "dev.weft.WorkerBlocked" -> addHeld(event);
      case "jdk.ExecutionSample", "jdk.NativeMethodSample" -> addSample(event);
      case "jdk.JVMInformation" -> jvm = event.getString("jvmVersion").replaceFirst(" for .*", "");
      default -> {}
    }
  }

  private void addSlice(RecordedEvent event) {
    long nanos = event.getDuration().toNanos();
    String fiber = event.getString("name");
    sum(ran, alike(fiber), "", "").add(fiber, nanos);
    keep(slices, MOST_SLICES, span(event, fiber, nanos, ""));
  }

  private void addWait(RecordedEvent event) {
    String what = alike(STATE_OF_LOCK.matcher(event.getString("waitsFor")).replaceFirst(""));
    String stack = stackOf(event.getStackTrace());
    sum(waited, what + "\n" + stack, what, stack)
        .add(nameOf(event.getThread()), event.getDuration().toNanos());
  }

  private void addPark(RecordedEvent event) {
    List<String> frames = withoutPlumbing(framesOfText(event.getString("stack")));
    String what =
        event.hasField("waitsFor")
            ? event.getString("waitsFor")
            : frames.isEmpty() ? "" : frames.getFirst().replaceFirst("\\(.*", "");
    String stack = String.join("\n", frames);
    sum(waited, what + "\n" + stack, what, stack)
        .add(event.getString("name"), event.getDuration("waited").toNanos());
  }

  private void addCall(RecordedEvent event) {
    long nanos = event.getDuration().toNanos();
    String stack = stackOf(event.getStackTrace());
    String fiber = event.getString("name");
    String what = stack.isEmpty() ? "" : stack.lines().findFirst().orElse("");
    sum(called, stack, what, stack).add(fiber, nanos);
    keep(
        calls,
        MOST_CALLS,
        new Span(fiber, event.getString("helper"), sinceStart(event), nanos, stack));
  }

  private void addHeld(RecordedEvent event) {
    if (held.size() < MOST_HELD) {
      held.add(
          span(
              event,
              event.getString("name"),
              event.getDuration("blockedFor").toNanos(),
              String.join("\n", framesOfText(event.getString("stack")))));
    }
  }

  private void addSample(RecordedEvent event) {
    RecordedThread thread = event.getThread("sampledThread");
    RecordedStackTrace trace = event.getStackTrace();
    if (thread == null || trace == null) {
      return;
    }
    List<String> frames = frames(trace);
    if (frames.stream().noneMatch(frame -> frame.startsWith("dev.weft.internal.sched.Slice"))) {
      return; // not the code of a fiber
    }
    String stack = String.join("\n", cutSlice(frames));
    sum(sampled, stack, frames.getFirst(), stack).add(nameOf(thread), 1);
    if (samples.size() < MOST_SAMPLES) {
      samples.add(new Sample(nameOf(thread), sinceStart(event), stack));
    }
  }

  // ---- reading ----

  private Span span(RecordedEvent event, String fiber, long nanos, String stack) {
    return new Span(fiber, threadOf(event), sinceStart(event), nanos, stack);
  }

  private static String threadOf(RecordedEvent event) {
    return event.hasField("thread") && event.getEventType().getName().endsWith("WorkerBlocked")
        ? "thread " + event.getInt("thread")
        : nameOf(event.getThread());
  }

  private static String nameOf(@Nullable RecordedThread thread) {
    if (thread == null) {
      return "";
    }
    String name = thread.getJavaName();
    return name == null ? String.valueOf(thread.getOSName()) : name;
  }

  private long sinceStart(RecordedEvent event) {
    return start == null ? 0 : Duration.between(start, event.getStartTime()).toNanos();
  }

  private static List<String> frames(RecordedStackTrace trace) {
    return trace.getFrames().stream()
        .filter(RecordedFrame::isJavaFrame)
        .map(Recorded::text)
        .toList();
  }

  /** Returns the frames of a stack as text, without the names of modules. */
  private static List<String> framesOfText(String stack) {
    return stack.lines().map(line -> MODULE.matcher(line).replaceFirst("")).toList();
  }

  private static String text(RecordedFrame frame) {
    String method = frame.getMethod().getType().getName() + "." + frame.getMethod().getName();
    return frame.getLineNumber() < 0 ? method : method + ":" + frame.getLineNumber();
  }

  private static String stackOf(@Nullable RecordedStackTrace trace) {
    return trace == null ? "" : String.join("\n", withoutPlumbing(frames(trace)));
  }

  /** Leaves out how Weft and the JDK wait, below, and how a slice was entered, above. */
  private static List<String> withoutPlumbing(List<String> frames) {
    List<String> kept =
        frames.stream().dropWhile(frame -> PLUMBING.matcher(frame).lookingAt()).toList();
    return cutSlice(kept.isEmpty() ? frames : kept);
  }

  private static List<String> cutSlice(List<String> frames) {
    List<String> kept =
        frames.stream()
            .takeWhile(
                frame ->
                    !frame.startsWith("dev.weft.internal.sched.Slice.runBody")
                        && !frame.startsWith("dev.weft.internal.sched.FiberExecutor"))
            .toList();
    return kept.isEmpty() ? frames : kept;
  }

  /** Makes one name of those that differ in numbers only: handler-17 and handler-18. */
  static String alike(String name) {
    return NUMBERS.matcher(name).replaceAll("#");
  }

  private static Sum sum(Map<String, Sum> sums, String key, String what, String stack) {
    Sum known = sums.get(key);
    if (known == null && sums.size() >= MOST_GROUPS) {
      return sums.computeIfAbsent(OTHERS, _ -> new Sum(OTHERS, ""));
    }
    return known != null
        ? known
        : sums.computeIfAbsent(key, _ -> new Sum(what.isEmpty() ? key : what, stack));
  }

  private static void keep(PriorityQueue<Span> longest, int most, Span span) {
    longest.add(span);
    if (longest.size() > most) {
      longest.poll();
    }
  }

  // ---- what is in it ----

  Path file() {
    return file;
  }

  Instant start() {
    return start == null ? Instant.EPOCH : start;
  }

  Duration length() {
    return start == null || end == null ? Duration.ZERO : Duration.between(start, end);
  }

  String jvm() {
    return jvm;
  }

  boolean hasWeftEvents() {
    return !counts.isEmpty();
  }

  /** How many events of each kind there are. */
  Map<String, Long> counts() {
    return counts;
  }

  /** Slices by the names of their fibers, most time first. */
  List<Sum> ran() {
    return byTime(ran);
  }

  List<Sum> waited() {
    return byTime(waited);
  }

  List<Sum> called() {
    return byTime(called);
  }

  /** Samples by stack; the count is what matters. */
  List<Sum> sampled() {
    return byTime(sampled);
  }

  private static List<Sum> byTime(Map<String, Sum> sums) {
    return sums.values().stream()
        .sorted(Comparator.comparingLong((Sum sum) -> sum.nanos).reversed())
        .toList();
  }

  /** The longest slices, longest first. */
  List<Span> slices() {
    return slices.stream().sorted(Comparator.comparingLong(Span::nanos).reversed()).toList();
  }

  List<Span> held() {
    return held;
  }

  /** Returns the stacks of the samples inside a slice, most frequent first. */
  Stream<Map.Entry<String, Long>> samplesIn(Span slice) {
    Map<String, Long> byStack = new HashMap<>();
    for (Sample sample : samples) {
      if (sample.time >= slice.start
          && sample.time <= slice.end()
          && (sample.thread.equals(slice.fiber) || sample.thread.equals(slice.thread))) {
        byStack.merge(sample.stack, 1L, Long::sum);
      }
    }
    return byStack.entrySet().stream()
        .sorted(Map.Entry.<String, Long>comparingByValue().reversed());
  }

  /** Returns the most helpers that were held at one time. */
  int mostHelpers() {
    List<long[]> changes = new ArrayList<>();
    for (Span call : calls) {
      changes.add(new long[] {call.start, 1});
      changes.add(new long[] {call.end(), -1});
    }
    changes.sort(Comparator.<long[]>comparingLong(c -> c[0]).thenComparingLong(c -> c[1]));
    int now = 0;
    int most = 0;
    for (long[] change : changes) {
      now += (int) change[1];
      most = Math.max(most, now);
    }
    return most;
  }
}
