package dev.weft.sim;

import dev.weft.sim.net.Machine;
import dev.weft.sim.net.Machines;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The hosts of a run. The body of the run is on the first, {@link #MAIN}. */
final class Hosts {
  static final String MAIN = "main";

  private final Machines machines;
  private final Stage stage;
  private final LinkPath.FaultLog log;
  private final Map<String, Host> byName = new LinkedHashMap<>();
  private final List<CrashListener> listeners = new ArrayList<>();
  private final Host main;

  Hosts(Machines machines, Stage stage, LinkPath.FaultLog log) {
    this.machines = machines;
    this.stage = stage;
    this.log = log;
    this.main = add(MAIN, null);
  }

  private Host add(String name, Simulation.@Nullable Action body) {
    if (name.isBlank() || !name.matches("[A-Za-z0-9._-]+")) {
      throw new IllegalArgumentException(
          "'" + name + "' is no host name: use letters, digits, dots, hyphens and underscores");
    }
    Machine machine = machines.add(name);
    if (machine == null) {
      throw new IllegalArgumentException("cannot add a host '" + name + "': there is one");
    }
    Host host = new Host(this, machine, body);
    byName.put(name, host);
    return host;
  }

  Host main() {
    return main;
  }

  Host get(String name) {
    Host host = byName.get(name);
    if (host == null) {
      throw new IllegalArgumentException(
          "there is no host '" + name + "'; there are " + byName.keySet());
    }
    return host;
  }

  Disk disk(Host host) {
    return stage.disks().disk(host.name());
  }

  HostClock clock(Host host) {
    return stage.clocks().of(host);
  }

  void listen(CrashListener listener) {
    listeners.add(listener);
  }

  Host start(String name, Simulation.Action body) {
    Host host = add(name, body);
    stage.start(host, host.name(), 0, body);
    return host;
  }

  void crash(Host host) {
    if (host == main) {
      throw new IllegalStateException(
          "cannot crash 'main': the body of the test runs on it; use a host of its own");
    }
    if (!host.isUp()) {
      throw new IllegalStateException("cannot crash '" + host + "': it is down");
    }
    log.happened(Fault.CRASH, "crashes " + host);
    boolean self = stage.freeze(host);
    host.machine().crash();
    listeners.forEach(listener -> listener.crashed(host));
    if (self) {
      stage.parkFrozen();
    }
  }

  void restart(Host host) {
    Simulation.Action body = host.main();
    if (body == null || host.isUp()) {
      throw new IllegalStateException("cannot restart '" + host + "': it is up; crash it before");
    }
    host.machine().restart();
    listeners.forEach(listener -> listener.restarted(host));
    stage.start(host, host.name(), 0, body);
  }
}
