package dev.weft.im;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Optional;

/**
 * Where a client is, as far as limits care: an address of IPv4, or the first 64 bits of one of
 * IPv6, of which a single machine has as many as it likes (RFC 6177).
 */
final class Place {
  private static final int NETWORK_BYTES = 8;
  private static final int SITE_WORDS = 3;

  private Place() {}

  /** Returns that of the client of a connection. */
  static String of(SocketAddress address) {
    return address instanceof InetSocketAddress internet && internet.getAddress() != null
        ? of(internet.getAddress())
        : address.toString();
  }

  /**
   * Returns that of an address in an X-Forwarded-For header, with or without a port: {@code
   * 192.0.2.1}, {@code 192.0.2.1:4711}, {@code 2001:db8::1}, {@code [2001:db8::1]:4711}; empty if
   * it is none.
   */
  static Optional<String> ofForwarded(String text) {
    String address = text;
    if (text.startsWith("[") && text.contains("]")) {
      address = text.substring(1, text.indexOf(']'));
    } else if (text.indexOf(':') >= 0 && text.indexOf(':') == text.lastIndexOf(':')) {
      address = text.substring(0, text.indexOf(':'));
    }
    try {
      return Optional.of(of(InetAddress.ofLiteral(address)));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /**
   * Returns the site of a place, which may have many: the first 48 bits of an address of IPv6, as
   * providers give to a customer, or the address of IPv4 itself.
   */
  static String siteOf(String place) {
    String[] words = place.split(":", SITE_WORDS + 1);
    return words.length > SITE_WORDS
        ? String.join(":", Arrays.copyOf(words, SITE_WORDS)) + "::/48"
        : place;
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
