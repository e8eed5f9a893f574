package dev.weft.sim;

import dev.weft.sim.net.Machine;
import org.jspecify.annotations.Nullable;

/**
 * A named machine in a run. Its main runs as a fiber of it, and fibers that its fibers start are
 * its own. Its name resolves inside the simulation: {@code new Socket("bank", 7000)}.
 *
 * <p>A crash freezes the fibers of the host where they are: no finally block runs, no lock is
 * released, and static state survives, because all hosts share one JVM. Hosts should share nothing
 * but the network, else a fiber of another host waits for a lock for ever.
 */
public final class Host {
  private final Hosts hosts;
  private final Machine machine;
  private final Simulation.@Nullable Action main;

  Host(Hosts hosts, Machine machine, Simulation.@Nullable Action main) {
    this.hosts = hosts;
    this.machine = machine;
    this.main = main;
  }

  /** Returns its name. */
  public String name() {
    return machine.name();
  }

  /** Returns its disk. A crash of the host loses what was not forced. */
  public Disk disk() {
    return hosts.disk(this);
  }

  /** Returns its clock, which goes on through a crash. */
  public HostClock clock() {
    return hosts.clock(this);
  }

  /** Returns whether it runs: it has not crashed, or has been restarted. */
  public boolean isUp() {
    return machine.isUp();
  }

  /**
   * Freezes its fibers for good and closes its sockets. The other ends of its connections are
   * reset, or stay silent with the probability of {@link Network#silences}. If a fiber of this host
   * calls it, the call does not return.
   *
   * @throws IllegalStateException if the host is down, or is the one of the body
   */
  public void crash() {
    hosts.crash(this);
  }

  /**
   * Runs main anew after a crash.
   *
   * @throws IllegalStateException if the host is up
   */
  public void restart() {
    hosts.restart(this);
  }

  Machine machine() {
    return machine;
  }

  Simulation.@Nullable Action main() {
    return main;
  }

  @Override
  public String toString() {
    return name();
  }
}
