package dev.weft.stress;

import dev.weft.channel.Channel;
import dev.weft.channel.ChannelClosedException;
import dev.weft.channel.Select;
import java.util.List;
import org.jetbrains.lincheck.datastructures.Operation;

/**
 * Channels and select as the model checker sees them: each operation has to look like one step. A
 * lost token leaves a thread waiting for ever; a duplicated token lets two threads in.
 */
final class ChannelModels {
  private static final String TOKEN = "token";

  private ChannelModels() {}

  /** A channel for one value: the sent value is received, once, and no second value fits in. */
  public static class OfValues {
    private final Channel<Integer> channel = Channel.buffered(1);

    @Operation
    public boolean send(int value) {
      return channel.trySend(value);
    }

    @Operation
    public int receive() {
      return channel.tryReceive().orElse(-1);
    }
  }

  /** A token in a buffered channel, for which the next thread waits. */
  public static class OfChannel {
    private final Channel<String> tokens = Channel.buffered(1);
    private int count;

    public OfChannel() {
      tokens.trySend(TOKEN);
    }

    @Operation
    public int next() throws InterruptedException {
      return bringBack(tokens.receive());
    }

    @Operation
    public int nextUnlessClosed() throws InterruptedException {
      return bringBack(tokens.receiveOrClosed().orElseThrow());
    }

    private int bringBack(String token) throws InterruptedException {
      int mine = ++count;
      tokens.send(token);
      return mine;
    }
  }

  /** A channel for one value and its end: the value sent before the end is received, once. */
  public static class OfEnd {
    private final Channel<Integer> channel = Channel.buffered(1);

    @Operation
    public boolean send(int value) {
      return sent(channel, value);
    }

    @Operation
    public int closeAndReceive() throws InterruptedException {
      channel.close();
      return channel.receiveOrClosed().orElse(-1);
    }
  }

  /** Two channels that are closed and merged until both have ended. */
  public static class OfMerge {
    private final Channel<Integer> left = Channel.buffered(1);
    private final Channel<Integer> right = Channel.buffered(1);

    @Operation
    public boolean send(int value) {
      return sent(value % 2 == 0 ? left : right, value);
    }

    @Operation
    public int closeAndCount() throws InterruptedException {
      left.close();
      right.close();
      boolean[] open = {true, true};
      int count = 0;
      while (open[0] || open[1]) {
        count +=
            Select.of(
                Select.when(open[0], left.onReceive(_ -> 1, () -> ended(open, 0))),
                Select.when(open[1], right.onReceive(_ -> 1, () -> ended(open, 1))));
      }
      return count;
    }

    private static int ended(boolean[] open, int which) {
      open[which] = false;
      return 0;
    }
  }

  private static boolean sent(Channel<Integer> channel, int value) {
    try {
      return channel.trySend(value);
    } catch (ChannelClosedException e) {
      return false;
    }
  }

  /** Two threads wait in a full channel with a value, each to get its own back. */
  public static class OfSenders {
    private final Channel<Integer> channel = Channel.buffered(1);

    @Operation
    public boolean swap(int value) throws InterruptedException {
      channel.send(value);
      return channel.receive() == value;
    }
  }

  /** A token in one of two channels; select takes it and brings it back. */
  public static class OfSelect {
    private final Channel<String> left = Channel.buffered(1);
    private final Channel<String> right = Channel.buffered(1);
    private int count;

    public OfSelect() {
      left.trySend(TOKEN);
    }

    @Operation
    public int next() throws InterruptedException {
      return bringBack(Select.of(left.onReceive(t -> t), right.onReceive(t -> t)));
    }

    @Operation
    public int nextOfMany() throws InterruptedException {
      return bringBack(
          Select.of(
              List.of(
                  left.onReceive(t -> t, () -> "end"),
                  right.onReceive(t -> t),
                  Select.when(false, Select.otherwise(() -> "switched off")),
                  left.onReceive(t -> t))));
    }

    private int bringBack(String token) throws InterruptedException {
      int mine = ++count;
      Select.of(left.onSend(token, () -> TOKEN), right.onSend(token, () -> TOKEN));
      return mine;
    }
  }
}
