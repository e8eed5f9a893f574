package dev.weft.stress;

import dev.weft.channel.Channel;
import dev.weft.channel.Select;
import org.jetbrains.lincheck.datastructures.Operation;

/**
 * Channels and select as the model checker sees them: each operation is to look like one step. A
 * token that is lost leaves somebody waiting for ever; one that is there twice lets two in.
 */
final class ChannelModels {
  private static final String TOKEN = "token";

  private ChannelModels() {}

  /** A channel for one value: what is sent is received, once, and no more fits in. */
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

  /** A token in a buffered channel, which the next one waits for. */
  public static class OfChannel {
    private final Channel<String> tokens = Channel.buffered(1);
    private int count;

    public OfChannel() {
      tokens.trySend(TOKEN);
    }

    @Operation
    public int next() throws InterruptedException {
      String token = tokens.receive();
      int mine = ++count;
      tokens.send(token);
      return mine;
    }
  }

  /** Two who wait in a full channel with a value, each to get its own back. */
  public static class OfSenders {
    private final Channel<Integer> channel = Channel.buffered(1);

    @Operation
    public boolean swap(int value) throws InterruptedException {
      channel.send(value);
      return channel.receive() == value;
    }
  }

  /** A token in one of two channels, taken and brought back by select. */
  public static class OfSelect {
    private final Channel<String> left = Channel.buffered(1);
    private final Channel<String> right = Channel.buffered(1);
    private int count;

    public OfSelect() {
      left.trySend(TOKEN);
    }

    @Operation
    public int next() throws InterruptedException {
      String token = Select.of(left.onReceive(t -> t), right.onReceive(t -> t));
      int mine = ++count;
      Select.of(left.onSend(token, () -> TOKEN), right.onSend(token, () -> TOKEN));
      return mine;
    }
  }
}
