package dev.weft.stress;

import dev.weft.Fiber;
import dev.weft.channel.Channel;
import dev.weft.channel.ChannelClosedException;
import dev.weft.channel.Select;
import dev.weft.sync.ConditionVariable;
import dev.weft.sync.Mutex;
import dev.weft.sync.Semaphore;
import dev.weft.sync.SharedMutex;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;

/**
 * The objects that the actors of a world share: channels, locks, permits, a store; each checks its
 * own use.
 */
final class WorldThings {
  private final WorldStress world;
  private final List<Line> lines = new ArrayList<>();
  private final List<Room> rooms = new ArrayList<>();
  private final List<Permits> permits = new ArrayList<>();
  private final Store store;
  private final Queue<Value> values = new ConcurrentLinkedQueue<>();
  private final List<Fiber<Void>> pumps = new ArrayList<>();

  WorldThings(WorldStress world, SplittableRandom random) {
    this.world = world;
    for (int i = 1 + random.nextInt(4); i > 0; i--) {
      lines.add(new Line(random));
    }
    for (int i = 1 + random.nextInt(4); i > 0; i--) {
      rooms.add(new Room(rooms.size(), random));
    }
    for (int i = 1 + random.nextInt(2); i > 0; i--) {
      permits.add(new Permits(1 + random.nextInt(4)));
    }
    store = new Store(1 + random.nextInt(3));
  }

  Line anyLine(SplittableRandom random) {
    return lines.get(random.nextInt(lines.size()));
  }

  Room anyRoom(SplittableRandom random) {
    return rooms.get(random.nextInt(rooms.size()));
  }

  /** Returns a room after this room, if there is any: locks taken in this order do not deadlock. */
  @Nullable Room roomBehind(Room room, SplittableRandom random) {
    int first = room.index + 1;
    return first == rooms.size() ? null : rooms.get(random.nextInt(first, rooms.size()));
  }

  Permits anyPermits(SplittableRandom random) {
    return permits.get(random.nextInt(permits.size()));
  }

  Store store() {
    return store;
  }

  Value newValue(int sender, int number) {
    Value value = new Value(sender, number);
    values.add(value);
    return value;
  }

  /** Starts a pump for each channel: a fiber that receives until the channel is closed. */
  void startPumps(SplittableRandom random) {
    for (Line line : lines) {
      SplittableRandom own = random.split();
      pumps.add(world.startHelper(random, () -> line.pump(own)));
    }
  }

  void closeLines() {
    lines.forEach(line -> line.channel.close());
  }

  boolean pumpsHaveEnded() {
    return pumps.stream().allMatch(pump -> pump.status() == Fiber.Status.DONE);
  }

  /** Checks the invariants after all actors and pumps have ended. */
  void check() {
    for (Value value : values) {
      int expected = value.sent ? 1 : 0;
      world.check(
          value.received.get() == expected,
          () -> value + " was received " + value.received + " times, not " + expected);
    }
    rooms.forEach(Room::check);
    permits.forEach(Permits::check);
    store.check();
  }

  /** A value that goes through a channel. */
  static final class Value {
    private final int sender;
    private final int number;
    private final AtomicInteger received = new AtomicInteger();
    private volatile boolean sent;

    Value(int sender, int number) {
      this.sender = sender;
      this.number = number;
    }

    /** Records that the call that sent it has returned. */
    void wasSent() {
      sent = true;
    }

    @Override
    public String toString() {
      return "value %d of actor %d (%s)".formatted(number, sender, sent ? "sent" : "not sent");
    }
  }

  /** The values that one receiver has got: see {@link Line}. */
  final class Received {
    private final Map<List<Object>, Integer> lastNumbers = new HashMap<>();

    /** Records a value; values of one sender come through one channel in their order. */
    void add(Line line, Value value) {
      value.received.incrementAndGet();
      Integer last = lastNumbers.put(List.of(line, value.sender), value.number);
      world.check(
          last == null || last < value.number,
          () -> value + " came after number " + last + " through " + line.channel);
    }
  }

  /** A channel for all actors; its pump makes sure that each send ends. */
  final class Line {
    final Channel<Value> channel;

    Line(SplittableRandom random) {
      channel =
          switch (random.nextInt(4)) {
            case 0 -> Channel.rendezvous();
            case 1 -> Channel.buffered(1);
            case 2 -> Channel.buffered(2 + random.nextInt(8));
            default -> Channel.unlimited();
          };
    }

    private void pump(SplittableRandom random) throws InterruptedException {
      Received received = new Received();
      Channel<Value> idle = Channel.rendezvous();
      try {
        while (true) {
          world.operations.incrementAndGet();
          switch (random.nextInt(6)) {
            case 0 -> received.add(this, channel.receive());
            case 1 -> {
              int count = random.nextInt(10);
              for (Value value : channel) {
                received.add(this, value);
                if (count-- == 0) {
                  break;
                }
              }
            }
            case 2 ->
                channel
                    .receive(Duration.ofNanos(random.nextInt(1_000_000)))
                    .ifPresent(value -> received.add(this, value));
            case 3 ->
                received.add(
                    this,
                    Select.<Value>of(idle.onReceive(value -> value), channel.onReceive(v -> v)));
            case 4 -> Fiber.sleep(Duration.ofNanos(random.nextInt(300_000)));
            default -> channel.tryReceive().ifPresent(value -> received.add(this, value));
          }
        }
      } catch (ChannelClosedException e) {
        // all actors have ended, and all their values are received
      }
    }
  }

  /** A place for one writing actor or several reading actors, behind a lock of any kind. */
  final class Room {
    private final int index;
    private final ReadWriteLock lock;

    // guarded by the lock, and deliberately not volatile
    private int writers;
    private long visits;

    private final AtomicInteger readers = new AtomicInteger();
    private final AtomicLong writersSoFar = new AtomicLong();

    Room(int index, SplittableRandom random) {
      this.index = index;
      this.lock =
          switch (random.nextInt(5)) {
            case 0 -> new SharedMutex();
            case 1 -> new ReentrantReadWriteLock();
            case 2 -> new ExclusiveOnly(new ReentrantLock());
            case 3 -> new ExclusiveOnly(Mutex.fair());
            default -> new ExclusiveOnly(new Mutex());
          };
    }

    Lock lock(boolean toRead) {
      return toRead ? lock.readLock() : lock.writeLock();
    }

    boolean isShared() {
      return !(lock instanceof ExclusiveOnly);
    }

    /** Called by an actor that holds the lock. */
    void enter(boolean reads) {
      world.check(writers == 0, () -> "a writer holds " + lock);
      if (reads) {
        readers.incrementAndGet();
      } else {
        writers++;
        visits++;
        writersSoFar.incrementAndGet();
        world.check(readers.get() == 0, () -> readers + " readers hold " + lock);
      }
    }

    /** Called by an actor that still holds the lock. */
    void leave(boolean reads) {
      if (reads) {
        world.check(writers == 0, () -> "a writer has entered " + lock);
        readers.decrementAndGet();
      } else {
        world.check(writers == 1, () -> "another writer has entered " + lock);
        world.check(readers.get() == 0, () -> "readers have entered " + lock);
        writers--;
      }
    }

    private void check() {
      Lock free = lock(false);
      world.check(free.tryLock(), () -> lock + " is still held");
      world.check(
          writers == 0 && readers.get() == 0 && visits == writersSoFar.get(),
          () -> "of " + writersSoFar + " visits to " + lock + " " + visits + " are left");
      free.unlock();
    }
  }

  /** A lock that readers do not share. */
  private record ExclusiveOnly(Lock readLock) implements ReadWriteLock {
    @Override
    public Lock writeLock() {
      return readLock;
    }
  }

  /** Permits that actors acquire and release. */
  final class Permits {
    final int all;
    final Semaphore semaphore;
    private final AtomicInteger taken = new AtomicInteger();

    Permits(int all) {
      this.all = all;
      this.semaphore = new Semaphore(all);
    }

    void take(int count) {
      int now = taken.addAndGet(count);
      world.check(now <= all, () -> now + " of " + all + " permits are taken");
    }

    void giveBack(int count) {
      taken.addAndGet(-count);
      semaphore.release(count);
    }

    private void check() {
      world.check(
          semaphore.availablePermits() == all,
          () -> semaphore.availablePermits() + " of " + all + " permits are left");
    }
  }

  /** A store of limited size, with a lock and two conditions as in textbooks. */
  final class Store {
    private final int capacity;
    private final Mutex mutex = new Mutex();
    private final ConditionVariable notFull = new ConditionVariable();
    private final ConditionVariable notEmpty = new ConditionVariable();

    // guarded by the mutex
    private int content;

    private final AtomicInteger put = new AtomicInteger();
    private final AtomicInteger taken = new AtomicInteger();

    Store(int capacity) {
      this.capacity = capacity;
    }

    /** Puts an item in if there is room within the limit. */
    void put(Duration limit) throws InterruptedException {
      mutex.lockInterruptibly();
      try {
        if (content == capacity && !notFull.await(mutex, limit)) {
          return;
        }
        if (content < capacity) { // another actor may have come first
          content++;
          put.incrementAndGet();
          notEmpty.signal();
        }
      } finally {
        mutex.unlock();
      }
    }

    /** Takes an item out if there is one within the limit. */
    void take(Duration limit) throws InterruptedException {
      mutex.lockInterruptibly();
      try {
        if (content == 0 && !notEmpty.await(mutex, limit)) {
          return;
        }
        if (content > 0) {
          content--;
          taken.incrementAndGet();
          notFull.signal();
        }
        world.check(content >= 0, () -> "more was taken than put");
      } finally {
        mutex.unlock();
      }
    }

    private void check() {
      world.check(
          content == put.get() - taken.get(),
          () -> "%s put, %s taken, %d left".formatted(put, taken, content));
    }
  }
}
