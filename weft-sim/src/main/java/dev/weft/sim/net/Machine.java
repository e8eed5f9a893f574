package dev.weft.sim.net;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A machine in the network: a name, an address, its ports and its open sockets. */
public final class Machine {
  private static final int FIRST_EPHEMERAL = 32_768;
  private static final int PORTS = 65_536;

  private final String name;
  private final InetAddress address;
  private final Map<Integer, Descriptor> streams = new HashMap<>();
  private final Map<Integer, Descriptor> datagrams = new HashMap<>();
  private final List<Descriptor> open = new ArrayList<>();
  private int nextEphemeral = FIRST_EPHEMERAL;
  private boolean up = true;

  Machine(String name, InetAddress address) {
    this.name = name;
    this.address = address;
  }

  /** Returns its name. */
  public String name() {
    return name;
  }

  /** Returns its address, with the name in it. */
  public InetAddress address() {
    return address;
  }

  /** Returns whether it runs. */
  public boolean isUp() {
    return up;
  }

  /** Stops it: its sockets are gone, and the other ends learn of it or not. */
  public void crash() {
    up = false;
    for (Descriptor socket : List.copyOf(open)) {
      socket.crash();
    }
    open.clear();
    streams.clear();
    datagrams.clear();
  }

  /** Lets it run again, without sockets. */
  public void restart() {
    up = true;
  }

  void opened(Descriptor socket) {
    open.add(socket);
  }

  void closed(Descriptor socket) {
    open.remove(socket);
    streams.values().remove(socket);
    datagrams.values().remove(socket);
  }

  private Map<Integer, Descriptor> ports(boolean stream) {
    return stream ? streams : datagrams;
  }

  /** Gives a port to a socket, a free one for 0; returns it, or -1 if it is in use. */
  int bind(Descriptor socket, boolean stream, int port) {
    Map<Integer, Descriptor> ports = ports(stream);
    if (port == 0) {
      for (int tries = FIRST_EPHEMERAL;
          tries < PORTS && ports.containsKey(nextEphemeral);
          tries++) {
        nextEphemeral = nextEphemeral + 1 == PORTS ? FIRST_EPHEMERAL : nextEphemeral + 1;
      }
    }
    int taken = port == 0 ? nextEphemeral : port;
    if (ports.putIfAbsent(taken, socket) != null) {
      return -1;
    }
    if (port == 0) {
      nextEphemeral = nextEphemeral + 1 == PORTS ? FIRST_EPHEMERAL : nextEphemeral + 1;
    }
    return taken;
  }

  @Nullable Descriptor at(int port, boolean stream) {
    return ports(stream).get(port);
  }

  boolean has(InetAddress given) {
    return given.isAnyLocalAddress() || given.isLoopbackAddress() || given.equals(address);
  }

  @Override
  public String toString() {
    return name;
  }
}
