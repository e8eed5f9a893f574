package dev.weft.sim.net;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** The machines of a run, with their names and addresses: the first has 10.0.0.1. */
public final class Machines {
  private static final int MOST = 65_000;

  final NetworkWorld world;
  private final long seed;
  private final Map<String, Machine> byName = new LinkedHashMap<>();
  private final Map<InetAddress, Machine> byAddress = new HashMap<>();

  // how many random generators there are of a pair of machines and a port
  private final Map<String, Integer> generators = new HashMap<>();

  /** Creates a network without machines. */
  public Machines(NetworkWorld world, long seed) {
    this.world = world;
    this.seed = seed;
  }

  /** Adds a machine; returns null if there is one of this name. */
  public @Nullable Machine add(String name) {
    String key = name.toLowerCase(Locale.ROOT);
    if (byName.containsKey(key) || key.equals("localhost") || byName.size() >= MOST) {
      return null;
    }
    int number = byName.size() + 1;
    Machine machine = new Machine(name, address(name, 10, 0, (byte) (number >> 8), (byte) number));
    byName.put(key, machine);
    byAddress.put(machine.address(), machine);
    return machine;
  }

  private static InetAddress address(String name, int... bytes) {
    byte[] raw = new byte[bytes.length];
    for (int i = 0; i < raw.length; i++) {
      raw[i] = (byte) bytes[i];
    }
    try {
      return InetAddress.getByAddress(name, raw);
    } catch (UnknownHostException e) {
      throw new AssertionError(e); // four bytes are an address
    }
  }

  /** Returns the machine that a machine reaches by an address; null if there is none. */
  @Nullable Machine machineAt(Machine from, InetAddress address) {
    return from.has(address) ? from : byAddress.get(address);
  }

  InetAddress[] resolve(String name) throws UnknownHostException {
    String key = name.toLowerCase(Locale.ROOT);
    if (key.equals("localhost")) {
      return new InetAddress[] {address("localhost", 127, 0, 0, 1)};
    }
    Machine machine = byName.get(key);
    if (machine == null) {
      throw new UnknownHostException(
          name + ": Name or service not known; the simulation has the hosts " + byName.values());
    }
    return new InetAddress[] {machine.address()};
  }

  String nameOf(InetAddress address) {
    Machine machine = byAddress.get(address);
    return machine != null
        ? machine.name()
        : address.isLoopbackAddress() ? "localhost" : address.getHostAddress();
  }

  /**
   * Returns a generator for the faults of the next connection between two machines. Each connection
   * has its own, so that its faults do not depend on when other connections send.
   */
  SplittableRandom randomOf(Machine from, Machine to, int port) {
    String key = from.name() + '\n' + to.name() + '\n' + port;
    int number = generators.merge(key, 1, Integer::sum);
    long mixed = seed * 0x9E3779B97F4A7C15L + key.hashCode();
    return new SplittableRandom(mixed * 0xBF58476D1CE4E5B9L + number);
  }
}
