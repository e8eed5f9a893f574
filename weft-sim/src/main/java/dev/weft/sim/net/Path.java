package dev.weft.sim.net;

import java.util.SplittableRandom;

/** How packets between two machines fare. Each method that answers a fault's question counts it. */
public interface Path {
  /** Returns how long a packet takes, in nanoseconds. */
  long delay(SplittableRandom random);

  /** Returns for how much longer a segment of a stream takes because a packet was lost; 0: not. */
  long stall(SplittableRandom random);

  /** Returns whether a segment breaks its connection. */
  boolean resets(SplittableRandom random);

  /** Returns whether an attempt to connect is refused. */
  boolean refuses(SplittableRandom random);

  /** Returns whether a datagram is lost. */
  boolean loses(SplittableRandom random);

  /** Returns whether the other end of a crashed host's connection hears nothing of the crash. */
  boolean isSilent(SplittableRandom random);

  /** Returns whether a partition separates the machines. */
  boolean isCut();

  /** Holds something up until the partition heals; then runs the action. */
  void hold(Runnable whenHealed);

  /** Notes that a partition has swallowed a datagram. */
  void swallow();

  /** Notes that a datagram has overtaken another. */
  void reorder();
}
