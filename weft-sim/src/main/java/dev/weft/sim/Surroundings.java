package dev.weft.sim;

import dev.weft.internal.net.NetSocket;
import dev.weft.internal.net.WorldNetwork;
import dev.weft.sim.net.Kernel;
import dev.weft.sim.net.Machine;
import dev.weft.sim.net.Machines;
import dev.weft.sim.net.NetworkWorld;
import dev.weft.sim.net.Path;
import dev.weft.sim.net.SimulatedNetSocket;
import java.io.IOException;
import java.net.SocketAddress;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/** What is around the fibers of one run: hosts, the network and the faults that have happened. */
final class Surroundings implements NetworkWorld, WorldNetwork, LinkPath.FaultLog {
  private static final AtomicLong RUNS = new AtomicLong();

  private final Stage stage;
  private final FaultCounts faults = new FaultCounts();
  private final Machines machines;
  private final Kernel kernel;
  private final Hosts hosts;
  private final Network network;
  private final Random random;

  Surroundings(Stage stage, long seed) {
    this.stage = stage;
    this.machines = new Machines(this, seed);
    this.kernel = new Kernel(this, machines, RUNS.getAndIncrement());
    this.hosts = new Hosts(machines, stage, this);
    this.network = new Network(hosts, faults, this);
    this.random = new Random(seed * 0x9E3779B97F4A7C15L + 1);
  }

  Kernel kernel() {
    return kernel;
  }

  Hosts hosts() {
    return hosts;
  }

  Network network() {
    return network;
  }

  /** Returns the random numbers of the test, which no other part uses up. */
  Random random() {
    return random;
  }

  /** Counts a kind of fault from 0 on: the program asks for it. */
  void expect(Fault fault) {
    faults.expect(fault);
  }

  FaultCounts counts() {
    return faults;
  }

  Map<Fault, Long> faults() {
    return faults.snapshot();
  }

  @Override
  public void happened(Fault fault, String what) {
    faults.add(fault);
    stage.noteFault(what);
  }

  // ---- what the network needs ----

  @Override
  public long now() {
    return stage.now();
  }

  @Override
  public Event at(long time, Runnable action) {
    return stage.events().add(time, action);
  }

  @Override
  public Machine here() {
    return stage.hostHere().machine();
  }

  @Override
  public boolean inside() {
    return stage.inside();
  }

  @Override
  public Path path(Machine one, Machine other) {
    return network.path(one, other);
  }

  @Override
  public void beforeOperation() {
    stage.beforeOperation();
  }

  @Override
  public void aroundWait() {
    stage.aroundWait();
  }

  // ---- sockets of dev.weft.net ----

  @Override
  public NetSocket openStream(SocketAddress address) throws IOException {
    refuseUnixDomain(address);
    return SimulatedNetSocket.stream(machines, address);
  }

  @Override
  public NetSocket openListener(SocketAddress address) throws IOException {
    return openStream(address);
  }

  @Override
  public NetSocket openDatagram(SocketAddress address) throws IOException {
    refuseUnixDomain(address);
    return SimulatedNetSocket.datagram(machines, address);
  }

  private void refuseUnixDomain(SocketAddress address) {
    if (SimulatedNetSocket.isUnixDomain(address)) {
      stage.refuse("a Unix-domain socket");
    }
  }
}
