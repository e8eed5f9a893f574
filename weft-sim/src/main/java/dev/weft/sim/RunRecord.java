package dev.weft.sim;

import dev.weft.sim.Chooser.Choice;
import dev.weft.sim.RunResult.TraceEvent;
import dev.weft.sim.agent.Sites;
import dev.weft.sim.agent.Sites.Site;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What is kept of a run: its choices always, what happened in it only on demand. */
final class RunRecord {
  private static final long FIRST_DIGEST = 0xcbf29ce484222325L;

  private final Numbers decisions = new Numbers();
  private final Numbers sites = new Numbers();
  private final Numbers switches = new Numbers();
  private long digest;
  private @Nullable List<TraceEvent> events;

  void begin(boolean recorded) {
    decisions.clear();
    sites.clear();
    switches.clear();
    digest = FIRST_DIGEST;
    events = recorded ? new ArrayList<>() : null;
  }

  /** Mixes a number into the digest, as FNV-1a does, with a shift for the low bits. */
  void mix(long value) {
    digest = (digest ^ value) * 0x100000001b3L;
    digest ^= digest >>> 29;
  }

  /** Keeps a choice: at a site, or -1, of a fiber that is the usual one or not. */
  void decided(Choice choice, Lane chosen, boolean unusual, int site) {
    if (unusual) {
      switches.add(choice.index);
      switches.add(chosen.number);
    }
    decisions.add(((long) choice.count << 32) | chosen.number);
    sites.add(site);
    mix(chosen.number + 1009L * choice.count);
  }

  // ---- what happened ----

  boolean isRecorded() {
    return events != null;
  }

  void stopRecording() {
    events = null;
  }

  void note(long nanos, Lane lane, String what, String place) {
    if (events != null) {
      events.add(new TraceEvent(nanos, lane.number, what, place));
    }
  }

  void noteWait(long nanos, Lane lane, Thread thread) {
    if (events != null) {
      events.add(Where.of(nanos, lane.number, thread, "waits"));
    }
  }

  /** Notes that a fiber stops before the operation of a site, or spins (-1). */
  void noteStop(long nanos, Lane lane, int site) {
    Site at = Sites.get(site);
    if (at == null) {
      note(nanos, lane, "spins", "");
    } else {
      String place = at.line() > 0 ? at.place() : Where.programLine(Thread.currentThread());
      note(nanos, lane, "stops before it " + at.what(), place);
    }
  }

  RunResult result(
      long seed,
      @Nullable Throwable failure,
      List<Lane> lanes,
      long steps,
      long virtualNanos,
      Map<Fault, Long> faults) {
    return new RunResult(
        seed,
        failure,
        digest,
        decisions.toArray(),
        sites.toIntArray(),
        switches.toIntArray(),
        lanes.size(),
        steps,
        virtualNanos,
        faults,
        events == null ? List.of() : events,
        events == null ? List.of() : lanes.stream().map(Lane::name).toList());
  }
}
