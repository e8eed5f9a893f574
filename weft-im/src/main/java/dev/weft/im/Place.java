package dev.weft.im;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.util.Arrays;

/**
 * Where a client is, as far as limits care: an address of IPv4, or the first 64 bits of one of
 * IPv6, of which a single machine has as many as it likes (RFC 6177).
 */
final class Place {
  private static final int NETWORK_BYTES = 8;

  private Place() {}

  static String of(SocketAddress address) {
    return address instanceof InetSocketAddress internet && internet.getAddress() != null
        ? of(internet.getAddress())
        : address.toString();
  }

  private static String of(InetAddress address) {
    if (address instanceof Inet6Address) {
      byte[] network = Arrays.copyOf(address.getAddress(), address.getAddress().length);
      Arrays.fill(network, NETWORK_BYTES, network.length, (byte) 0);
      try {
        return InetAddress.getByAddress(network).getHostAddress() + "/64";
      } catch (UnknownHostException e) {
        throw new IllegalStateException("16 bytes are an address", e);
      }
    }
    return address.getHostAddress();
  }
}
