package dev.weft.http;

import java.nio.ByteBuffer;
import java.util.concurrent.ArrayBlockingQueue;
import org.jspecify.annotations.Nullable;

/**
 * Buffers for TLS records that are to be sent. An engine wants room for the longest record however
 * little there is to send, so each sender borrows a buffer: a connection at rest has none.
 */
final class RecordBuffers {
  /** Two of the longest, 16 KB each and what encryption adds, with something to spare. */
  static final int SIZE = 34 * 1024;

  private static final ArrayBlockingQueue<ByteBuffer> FREE = new ArrayBlockingQueue<>(64);

  private RecordBuffers() {}

  static ByteBuffer borrow() {
    @Nullable ByteBuffer free = FREE.poll();
    return free != null ? free : ByteBuffer.allocate(SIZE);
  }

  /** Takes a buffer back; one of another size is left to the collector. */
  static void giveBack(ByteBuffer buffer) {
    if (buffer.capacity() == SIZE) {
      FREE.offer(buffer.clear());
    }
  }
}
