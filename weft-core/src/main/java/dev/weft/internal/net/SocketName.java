package dev.weft.internal.net;

import dev.weft.internal.poller.LinuxCalls;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.SocketAddress;

/**
 * The addresses of a socket as the kernel tells them, for dumps: {@code 10.0.0.5:5432}. The
 * descriptor may be closed meanwhile, or be no socket; then the text is empty.
 */
public final class SocketName {
  private interface Question {
    int ask(int fd, MemorySegment address, MemorySegment length);
  }

  private SocketName() {}

  /** Returns the address of the other side; empty if the socket is not connected. */
  public static String ofPeer(int fd) {
    return of(fd, LinuxCalls::peerName);
  }

  /** Returns the address of this side. */
  public static String ofThisSide(int fd) {
    return of(fd, LinuxCalls::localName);
  }

  private static String of(int fd, Question question) {
    byte[] address = new byte[NativeAddress.MAX_SIZE];
    int[] length = {address.length};
    int result = question.ask(fd, MemorySegment.ofArray(address), MemorySegment.ofArray(length));
    return result < 0 ? "" : text(NativeAddress.decode(address, length[0]));
  }

  private static String text(SocketAddress address) {
    if (address instanceof InetSocketAddress inet && inet.getAddress() != null) {
      String host = inet.getAddress().getHostAddress();
      return (host.contains(":") ? "[" + host + "]" : host) + ":" + inet.getPort();
    }
    return address.toString();
  }
}
