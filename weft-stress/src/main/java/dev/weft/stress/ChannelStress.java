package dev.weft.stress;

import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.channel.Channel;
import dev.weft.channel.ChannelClosedException;
import dev.weft.channel.Select;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Fibers of two schedulers and plain threads send and receive numbers in every way there is, while
 * they are interrupted and run out of time: each number that was sent is received, once, and none
 * that was not.
 */
final class ChannelStress {
  private static final int PARTIES = 4;
  private static final int ROUND = 250_000;

  /** Stands for the end of one of the channels where a number is expected. */
  private static final int END = -2;

  private final Channel<Integer> one;
  private final Channel<Integer> other;
  private final Channel<Integer> idle = Channel.rendezvous();

  // how often each number was received
  private final AtomicIntegerArray received = new AtomicIntegerArray(ROUND);
  private final AtomicLong next = new AtomicLong();
  private final AtomicLong gaveUp = new AtomicLong();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();

  private ChannelStress(SplittableRandom random) {
    one = any(random);
    other = any(random);
  }

  private static Channel<Integer> any(SplittableRandom random) {
    return switch (random.nextInt(4)) {
      case 0 -> Channel.rendezvous();
      case 1 -> Channel.buffered(1);
      case 2 -> Channel.buffered(20);
      default -> Channel.unlimited();
    };
  }

  /** Transfers so many numbers, in rounds with new channels; returns how many calls gave up. */
  static long run(long transfers, long seed, Progress progress) throws InterruptedException {
    SplittableRandom random = new SplittableRandom(seed);
    long gaveUp = 0;
    for (long done = 0; done < transfers; done += ROUND) {
      gaveUp += new ChannelStress(random).round(random);
      progress.at(done + ROUND);
    }
    return gaveUp;
  }

  private long round(SplittableRandom random) throws InterruptedException {
    Scheduler single = Scheduler.builder().threads(1).build().start();
    Scheduler pair = Scheduler.builder().threads(Threads.orElse(2)).build().start();
    List<Thread> senders = new ArrayList<>();
    List<Thread> receivers = new ArrayList<>();
    List<Fiber<Void>> fibers = new ArrayList<>();
    for (int i = 0; i < PARTIES; i++) {
      SplittableRandom ofSender = random.split();
      SplittableRandom ofReceiver = random.split();
      if (i == 0) {
        senders.add(Thread.ofPlatform().daemon().start(() -> guarded(() -> send(ofSender))));
        receivers.add(Thread.ofPlatform().daemon().start(() -> guarded(() -> receive(ofReceiver))));
      } else {
        Scheduler where = i % 2 == 0 ? single : pair;
        Fiber<Void> sender = where.go(() -> guarded(() -> send(ofSender)));
        Fiber<Void> receiver = where.go(() -> guarded(() -> receive(ofReceiver)));
        fibers.add(sender);
        fibers.add(receiver);
        senders.add(sender.thread());
        receivers.add(receiver.thread());
      }
    }
    List<Thread> all = new ArrayList<>(senders);
    all.addAll(receivers);
    while (senders.stream().anyMatch(Thread::isAlive) && failure.get() == null) {
      all.get(random.nextInt(all.size())).interrupt();
      Thread.sleep(0, 100_000);
    }
    one.close();
    other.close();
    for (Thread thread : all) {
      thread.join();
    }
    for (Fiber<Void> fiber : fibers) {
      try {
        fiber.join();
      } catch (CompletionException e) {
        failure.compareAndSet(null, e.getCause());
      }
    }
    single.stop();
    pair.stop();
    if (failure.get() != null) {
      throw new AssertionError(failure.get().toString(), failure.get());
    }
    for (int i = 0; i < ROUND; i++) {
      if (received.get(i) != 1) {
        throw new AssertionError(i + " was received " + received.get(i) + " times");
      }
    }
    return gaveUp.get();
  }

  private interface Part {
    void play() throws Exception;
  }

  private void guarded(Part part) {
    try {
      part.play();
    } catch (Throwable e) {
      failure.compareAndSet(null, e);
    }
  }

  /** Sends numbers, each until it is sent, as long as there are any. */
  private void send(SplittableRandom random) {
    for (long number = next.getAndIncrement();
        number < ROUND && failure.get() == null;
        number = next.getAndIncrement()) {
      while (!trySend((int) number, random)) {
        gaveUp.incrementAndGet();
      }
    }
  }

  private boolean trySend(int number, SplittableRandom random) {
    Channel<Integer> to = random.nextBoolean() ? one : other;
    try {
      return switch (random.nextInt(7)) {
        case 0, 1 -> {
          to.send(number);
          yield true;
        }
        case 2 -> to.send(number, Duration.ofNanos(random.nextInt(100_000)));
        case 3 -> to.trySend(number);
        case 4 ->
            Select.<Boolean>of(one.onSend(number, () -> true), other.onSend(number, () -> true));
        case 5 ->
            Select.of(
                List.of(
                    to.onSend(number, () -> true),
                    Select.when(false, Select.otherwise(() -> false)),
                    to.onSend(number, () -> true),
                    Select.when(random.nextBoolean(), idle.onReceive(_ -> false))));
        default ->
            Select.<Boolean>of(
                idle.onReceive(value -> false),
                other.onSend(number, () -> true),
                one.onSend(number, () -> true),
                Select.timeout(Duration.ofNanos(random.nextInt(100_000)), () -> false));
      };
    } catch (InterruptedException e) {
      return false; // so it was not sent, and is to be sent again
    }
  }

  private void receive(SplittableRandom random) {
    while (failure.get() == null) {
      try {
        int number = tryReceive(random);
        if (number >= 0) {
          received.incrementAndGet(number);
        } else if (number == END) {
          drainBoth();
          return;
        } else {
          gaveUp.incrementAndGet();
        }
      } catch (InterruptedException e) {
        gaveUp.incrementAndGet();
      } catch (ChannelClosedException e) {
        drainBoth();
        return;
      }
    }
  }

  private void drainBoth() {
    iterate(one);
    receiveToEnd(other);
  }

  private void receiveToEnd(Channel<Integer> channel) {
    boolean ended = false;
    while (!ended) {
      Thread.interrupted();
      try {
        Optional<Integer> number = channel.receiveOrClosed();
        number.ifPresent(received::incrementAndGet);
        ended = number.isEmpty();
      } catch (InterruptedException e) {
        gaveUp.incrementAndGet(); // so none was received
      }
    }
  }

  private void iterate(Channel<Integer> channel) {
    Thread.interrupted();
    boolean interrupted;
    do {
      interrupted = false;
      try {
        channel.forEach(received::incrementAndGet);
      } catch (java.util.concurrent.CancellationException e) {
        interrupted = Thread.interrupted();
      }
    } while (interrupted);
  }

  private int tryReceive(SplittableRandom random) throws InterruptedException {
    Channel<Integer> from = random.nextBoolean() ? one : other;
    return switch (random.nextInt(8)) {
      // not without a limit: it could wait at one channel while all that is left is in the other
      case 0, 1 -> from.receive(Duration.ofMillis(1)).orElse(-1);
      case 2 -> from.receive(Duration.ofNanos(random.nextInt(100_000))).orElse(-1);
      case 3 -> from.tryReceive().orElse(-1);
      case 4 -> Select.<Integer>of(one.onReceive(v -> v), other.onReceive(v -> v));
      case 5 ->
          Select.<Integer>of(one.onReceive(v -> v, () -> END), other.onReceive(v -> v, () -> END));
      case 6 ->
          Select.of(
              List.of(
                  one.onReceive(v -> v, () -> END),
                  other.onReceive(v -> v, () -> END),
                  Select.when(false, Select.otherwise(() -> -1)),
                  one.onReceive(v -> v, () -> END),
                  Select.when(random.nextBoolean(), other.onReceive(v -> v, () -> END))));
      default ->
          Select.<Integer>of(
              other.onReceive(v -> v),
              one.onReceive(v -> v),
              idle.onSend(1, () -> -1),
              Select.timeout(Duration.ofNanos(random.nextInt(100_000)), () -> -1));
    };
  }
}
