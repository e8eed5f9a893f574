package dev.weft.im;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Lines over TCP: each ends with LF, or CR LF. What the client has not ended is no line. */
final class LineWire implements Wire {
  private static final int FIRST_ROOM = 512;

  /** For the longest line and its end: a client that never ends its line fills no more. */
  private static final int MOST_ROOM = Command.MOST_BYTES + 2;

  private final ByteStream stream;
  private final String place;

  // read and not yet returned: from begin to end; no LF before searched
  private byte[] buffer = new byte[FIRST_ROOM];
  private int begin;
  private int searched;
  private int end;

  LineWire(ByteStream stream, String place) {
    this.stream = stream;
    this.place = place;
  }

  @Override
  public String place() {
    return place;
  }

  @Override
  public @Nullable String read() throws IOException, Refusal {
    boolean tooLong = false;
    while (true) {
      for (; searched < end; searched++) {
        if (buffer[searched] == '\n') {
          int from = begin;
          int to = searched > from && buffer[searched - 1] == '\r' ? searched - 1 : searched;
          begin = ++searched;
          if (tooLong || to - from > Command.MOST_BYTES) {
            throw Command.tooLong();
          }
          return decode(from, to);
        }
      }
      if (end - begin > Command.MOST_BYTES + 1) {
        tooLong = true; // and what is there of it is forgotten
        begin = end;
      }
      makeRoom();
      int count = stream.read(buffer, end, buffer.length - end);
      if (count < 0) {
        return null;
      }
      end += count;
    }
  }

  private void makeRoom() {
    if (begin == end) {
      begin = 0;
      end = 0;
      if (buffer.length > FIRST_ROOM) {
        buffer = new byte[FIRST_ROOM]; // a client that waits needs no more
      }
    } else if (end == buffer.length && begin > 0) {
      System.arraycopy(buffer, begin, buffer, 0, end - begin);
      end -= begin;
      begin = 0;
    } else if (end == buffer.length) {
      buffer = Arrays.copyOf(buffer, Math.min(MOST_ROOM, 2 * buffer.length));
    }
    searched = end;
  }

  private String decode(int from, int to) throws Refusal {
    try {
      return StandardCharsets.UTF_8
          .newDecoder()
          .decode(ByteBuffer.wrap(buffer, from, to - from))
          .toString();
    } catch (CharacterCodingException e) {
      throw Command.syntax("a line must be UTF-8");
    }
  }

  @Override
  public void write(List<String> lines) throws Unfinished {
    StringBuilder all = new StringBuilder();
    for (String line : lines) {
      all.append(line).append('\n');
    }
    ByteBuffer bytes = ByteBuffer.wrap(all.toString().getBytes(StandardCharsets.UTF_8));
    try {
      stream.write(bytes);
    } catch (IOException e) {
      int whole = 0;
      for (int i = 0; i < bytes.position(); i++) {
        whole += bytes.get(i) == '\n' ? 1 : 0;
      }
      throw new Unfinished(whole, e);
    }
  }

  @Override
  public void close() {
    stream.close();
  }
}
