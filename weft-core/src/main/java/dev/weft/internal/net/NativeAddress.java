package dev.weft.internal.net;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.UnsupportedAddressTypeException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Linux's socket addresses: {@code sockaddr_in}, {@code sockaddr_in6}, {@code sockaddr_un}. */
final class NativeAddress {
  static final int UNIX = 1;
  static final int INET = 2;
  static final int INET6 = 10;

  /** Room for any of them. */
  static final int MAX_SIZE = 110;

  private static final int MAX_PATH = 107;
  private static final byte[] V4_IN_V6 = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1};

  private NativeAddress() {}

  static int familyOf(SocketAddress address) throws UnknownHostException {
    return switch (address) {
      case UnixDomainSocketAddress unix -> UNIX;
      case InetSocketAddress inet -> resolved(inet) instanceof Inet6Address ? INET6 : INET;
      default -> throw new UnsupportedAddressTypeException();
    };
  }

  /** Returns the address of the given family; an IPv6 socket takes IPv4 ones too. */
  static MemorySegment encode(SocketAddress address, int family) throws IOException {
    byte[] bytes =
        switch (address) {
          case UnixDomainSocketAddress unix -> encodeUnix(unix);
          case InetSocketAddress inet -> encodeInet(inet, family);
          default -> throw new UnsupportedAddressTypeException();
        };
    return MemorySegment.ofArray(bytes);
  }

  private static byte[] encodeUnix(UnixDomainSocketAddress address) throws SocketException {
    byte[] path = address.getPath().toString().getBytes(StandardCharsets.UTF_8);
    if (path.length > MAX_PATH) {
      throw new SocketException(
          "cannot use the Unix address %s: its path has %d bytes, at most %d are possible"
              .formatted(address, path.length, MAX_PATH));
    }
    return ByteBuffer.allocate(2 + path.length + 1)
        .order(ByteOrder.nativeOrder())
        .putShort((short) UNIX)
        .put(path)
        .array();
  }

  private static byte[] encodeInet(InetSocketAddress address, int family) throws IOException {
    InetAddress host = resolved(address);
    ByteBuffer out = ByteBuffer.allocate(family == INET ? 16 : 28).order(ByteOrder.nativeOrder());
    out.putShort((short) family);
    out.put((byte) (address.getPort() >> 8)).put((byte) address.getPort());
    if (family == INET) {
      if (!(host instanceof Inet4Address)) {
        throw new SocketException("cannot use " + address + " with an IPv4 socket");
      }
      return out.put(host.getAddress()).array();
    }
    out.putInt(0); // flow
    if (host instanceof Inet6Address v6) {
      out.put(v6.getAddress()).putInt(v6.getScopeId());
    } else if (host.isAnyLocalAddress()) {
      out.position(28); // the any of IPv6 includes that of IPv4
    } else {
      out.put(V4_IN_V6).put(host.getAddress()).putInt(0);
    }
    return out.array();
  }

  static SocketAddress decode(byte[] bytes, int length) {
    if (length < 2) {
      return UnixDomainSocketAddress.of(""); // of a socket without a name
    }
    ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
    int family = in.getShort();
    if (family == UNIX) {
      int end = 2;
      while (end < length && bytes[end] != 0) {
        end++;
      }
      return UnixDomainSocketAddress.of(new String(bytes, 2, end - 2, StandardCharsets.UTF_8));
    }
    int port = (in.get() & 0xff) << 8 | (in.get() & 0xff);
    try {
      if (family == INET) {
        return new InetSocketAddress(
            InetAddress.getByAddress(Arrays.copyOfRange(bytes, 4, 8)), port);
      }
      byte[] host = Arrays.copyOfRange(bytes, 8, 24);
      int scope = in.getInt(24);
      return new InetSocketAddress(
          scope == 0
              ? InetAddress.getByAddress(host)
              : Inet6Address.getByAddress(null, host, scope),
          port);
    } catch (UnknownHostException e) {
      throw new IllegalStateException("an address of a length that there is not", e);
    }
  }

  private static InetAddress resolved(InetSocketAddress address) throws UnknownHostException {
    InetAddress host = address.getAddress();
    if (host == null) {
      throw new UnknownHostException(
          "cannot use " + address + ": its host name is not known to the name service");
    }
    return host;
  }
}
