package dev.weft.internal.net;

import dev.weft.internal.sched.FiberCore;
import java.io.IOException;
import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * The network of a simulated world. A {@link dev.weft.internal.sched.World} that has sockets is a
 * {@link Provider}; {@link NetSocket} then opens sockets of the world, not of the machine. The
 * sockets signal readiness themselves: no poller is involved.
 */
public interface WorldNetwork {
  /** Opens a socket for connecting to the address. */
  NetSocket openStream(SocketAddress address) throws IOException;

  /** Opens a socket for listening at the address. */
  NetSocket openListener(SocketAddress address) throws IOException;

  /** Opens a datagram socket for use at the address. */
  NetSocket openDatagram(SocketAddress address) throws IOException;

  /** Returns the network of the current fiber's world; null outside worlds. */
  static @Nullable WorldNetwork here() {
    FiberCore<?> self = FiberCore.currentOrNull();
    return self != null && self.core().world instanceof Provider world ? world.network() : null;
  }

  /** A world that has a network. */
  interface Provider {
    /** Returns its network. */
    WorldNetwork network();
  }
}
