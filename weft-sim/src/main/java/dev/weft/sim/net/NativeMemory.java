package dev.weft.sim.net;

import dev.weft.sim.net.JdkDescriptors.SocketAddressLayout;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Memory that {@code sun.nio.ch} hands to the operating system: buffers, iovec, sockaddr. */
final class NativeMemory {
  private static final int LENGTH_4 = 4;
  private static final int LENGTH_6 = 16;

  // struct iovec: two words
  private static final int VECTOR = 16;

  private NativeMemory() {}

  @SuppressWarnings("restricted") // the memory is that of the JDK's own buffers
  static ByteBuffer at(long address, int length) {
    return MemorySegment.ofAddress(address)
        .reinterpret(length)
        .asByteBuffer()
        .order(ByteOrder.nativeOrder());
  }

  /** Returns the buffers that an array of iovec describes. */
  static ByteBuffer[] vectors(long address, int count) {
    ByteBuffer array = at(address, count * VECTOR);
    ByteBuffer[] buffers = new ByteBuffer[count];
    for (int i = 0; i < count; i++) {
      buffers[i] = at(array.getLong(i * VECTOR), (int) array.getLong(i * VECTOR + Long.BYTES));
    }
    return buffers;
  }

  static void writeAddress(long address, InetSocketAddress from) {
    byte[] bytes = from.getAddress().getAddress();
    boolean is4 = bytes.length == LENGTH_4;
    int family = is4 ? SocketAddressLayout.FAMILY_4 : SocketAddressLayout.FAMILY_6;
    ByteBuffer struct = at(address, SocketAddressLayout.SIZE);
    struct.put(new byte[SocketAddressLayout.SIZE]);
    if (SocketAddressLayout.FAMILY_SIZE == 1) {
      struct.put(SocketAddressLayout.FAMILY, (byte) family);
    } else {
      struct.putShort(SocketAddressLayout.FAMILY, (short) family);
    }
    struct
        .order(ByteOrder.BIG_ENDIAN)
        .putShort(
            is4 ? SocketAddressLayout.PORT_4 : SocketAddressLayout.PORT_6, (short) from.getPort());
    struct.put(is4 ? SocketAddressLayout.ADDRESS_4 : SocketAddressLayout.ADDRESS_6, bytes);
  }

  static InetSocketAddress readAddress(long address) throws UnknownHostException {
    ByteBuffer struct = at(address, SocketAddressLayout.SIZE);
    int family =
        SocketAddressLayout.FAMILY_SIZE == 1
            ? struct.get(SocketAddressLayout.FAMILY)
            : struct.getShort(SocketAddressLayout.FAMILY);
    boolean is4 = family == SocketAddressLayout.FAMILY_4;
    byte[] bytes = new byte[is4 ? LENGTH_4 : LENGTH_6];
    struct.get(is4 ? SocketAddressLayout.ADDRESS_4 : SocketAddressLayout.ADDRESS_6, bytes);
    int port =
        struct
            .order(ByteOrder.BIG_ENDIAN)
            .getShort(is4 ? SocketAddressLayout.PORT_4 : SocketAddressLayout.PORT_6);
    return new InetSocketAddress(InetAddress.getByAddress(bytes), port & 0xffff);
  }
}
