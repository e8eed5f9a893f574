package dev.weft.sim;

import dev.weft.sim.net.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** The path between two hosts: draws by the settings of its {@link Link}, and counts. */
final class LinkPath implements Path {
  private final Link link;
  private final FaultLog log;
  private final String names;
  private boolean cut;
  private List<Runnable> held = new ArrayList<>();

  /** Counts faults and puts them into the trace. */
  interface FaultLog {
    void happened(Fault fault, String what);
  }

  LinkPath(Link link, FaultLog log, String names) {
    this.link = link;
    this.log = log;
    this.names = names;
  }

  Link link() {
    return link;
  }

  void cut() {
    cut = true;
  }

  void heal() {
    cut = false;
    List<Runnable> all = held;
    held = new ArrayList<>();
    all.forEach(Runnable::run);
  }

  /** Draws; a probability of 0 uses no random number up, so that setting it changes no others. */
  private boolean happens(double probability, SplittableRandom random, Fault fault, String what) {
    if (probability <= 0 || random.nextDouble() >= probability) {
      return false;
    }
    log.happened(fault, what + " " + names);
    return true;
  }

  @Override
  public long delay(SplittableRandom random) {
    long min = link.minLatency();
    long max = link.maxLatency();
    return max > min ? random.nextLong(min, max + 1) : min;
  }

  @Override
  public long stall(SplittableRandom random) {
    return happens(link.stalls(), random, Fault.STALL, "a segment stalls,") ? link.stallNanos() : 0;
  }

  @Override
  public boolean resets(SplittableRandom random) {
    return happens(link.resets(), random, Fault.RESET, "the connection is reset,");
  }

  @Override
  public boolean refuses(SplittableRandom random) {
    return happens(link.refusals(), random, Fault.REFUSAL, "the connection is refused,");
  }

  @Override
  public boolean loses(SplittableRandom random) {
    return happens(link.losses(), random, Fault.LOSS, "a datagram is lost,");
  }

  @Override
  public boolean isSilent(SplittableRandom random) {
    return happens(link.silences(), random, Fault.SILENCE, "a connection stays silent,");
  }

  @Override
  public boolean isCut() {
    return cut;
  }

  @Override
  public void hold(Runnable whenHealed) {
    log.happened(Fault.PARTITION, "the partition holds up a packet, " + names);
    held.add(whenHealed);
  }

  @Override
  public void swallow() {
    log.happened(Fault.PARTITION, "the partition swallows a datagram, " + names);
  }

  @Override
  public void reorder() {
    log.happened(Fault.REORDERING, "a datagram overtakes another, " + names);
  }
}
