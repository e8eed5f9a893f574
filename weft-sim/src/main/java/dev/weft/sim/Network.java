package dev.weft.sim;

import dev.weft.sim.net.Machine;
import dev.weft.sim.net.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The network of a run: its faults, for all pairs of hosts or by {@linkplain #link pair}. Settings
 * hold from the moment they are made. Connections within a host count too: it is a pair with
 * itself. Without settings packets take 0.1 to 1 ms and no fault happens.
 *
 * {@snippet class="dev.weft.sim.NetworkSnippetsTest" region="network"}
 */
public final class Network {
  private record Pair(String one, String other) {
    static Pair of(String one, String other) {
      return one.compareTo(other) <= 0 ? new Pair(one, other) : new Pair(other, one);
    }
  }

  private final Hosts hosts;
  private final FaultCounts faults;
  private final LinkPath.FaultLog log;
  private final Link all;
  private final Map<Pair, LinkPath> paths = new LinkedHashMap<>();

  Network(Hosts hosts, FaultCounts faults, LinkPath.FaultLog log) {
    this.hosts = hosts;
    this.faults = faults;
    this.log = log;
    this.all = Link.ofNetwork(faults);
  }

  /**
   * Sets how long a packet takes: evenly between the two, each time anew. Packets of different
   * connections, and datagrams, overtake each other; those of a connection do not.
   */
  public Network latency(Duration min, Duration max) {
    all.latency(min, max);
    return this;
  }

  /** Sets the probability of a reset by each segment: see {@link Link#resets}. */
  public Network resets(double probability) {
    all.resets(probability);
    return this;
  }

  /** Sets with which probability a segment of a connection is late, and by how much. */
  public Network stalls(double probability, Duration duration) {
    all.stalls(probability, duration);
    return this;
  }

  /** Sets the probability with which an attempt to connect is refused. */
  public Network refusals(double probability) {
    all.refusals(probability);
    return this;
  }

  /** Sets the probability with which a datagram is lost. Connections show loss as a stall. */
  public Network losses(double probability) {
    all.losses(probability);
    return this;
  }

  /** Sets how probably a connection to a host that crashes stays silent: {@link Link#silences}. */
  public Network silences(double probability) {
    all.silences(probability);
    return this;
  }

  /**
   * Returns the settings of two hosts, by name; the body of the run is on the host {@code main}.
   *
   * @throws IllegalArgumentException if there is no such host
   */
  public Link link(String one, String other) {
    return pathOf(one, other).link();
  }

  /**
   * Separates two hosts until they are healed: what is sent, or was under way, waits; datagrams are
   * lost. A connection that waits for more than 15 minutes times out.
   */
  public Network partition(String one, String other) {
    pathOf(one, other).cut();
    faults.expect(Fault.PARTITION);
    return this;
  }

  /** Ends the partition between two hosts. */
  public Network heal(String one, String other) {
    pathOf(one, other).heal();
    return this;
  }

  /** Ends all partitions. */
  public Network heal() {
    paths.values().forEach(LinkPath::heal);
    return this;
  }

  private LinkPath pathOf(String one, String other) {
    return pathOf(hosts.get(one).machine(), hosts.get(other).machine());
  }

  private LinkPath pathOf(Machine one, Machine other) {
    return paths.computeIfAbsent(
        Pair.of(one.name(), other.name()),
        pair ->
            new LinkPath(
                all.ofPair(),
                log,
                pair.one.equals(pair.other)
                    ? "inside " + pair.one
                    : "between " + pair.one + " and " + pair.other));
  }

  Path path(Machine one, Machine other) {
    return pathOf(one, other);
  }
}
