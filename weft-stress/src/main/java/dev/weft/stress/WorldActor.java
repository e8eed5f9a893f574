package dev.weft.stress;

import dev.weft.Body;
import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Hook;
import dev.weft.Scheduler;
import dev.weft.Scope;
import dev.weft.Weft;
import dev.weft.channel.Channel;
import dev.weft.channel.ChannelClosedException;
import dev.weft.channel.Select;
import dev.weft.io.IoEvent;
import dev.weft.stress.WorldThings.Line;
import dev.weft.stress.WorldThings.Permits;
import dev.weft.stress.WorldThings.Received;
import dev.weft.stress.WorldThings.Room;
import dev.weft.stress.WorldThings.Value;
import dev.weft.sync.Barrier;
import dev.weft.sync.ConditionVariable;
import dev.weft.sync.Mutex;
import dev.weft.sync.WaitGroup;
import dev.weft.time.Timer;
import java.io.InterruptedIOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A participant of a {@link WorldStress}: a fiber, a virtual or a plain thread that performs one
 * operation after another. Where an actor waits without a limit, another actor that is never
 * cancelled is bound to end the wait.
 *
 * <p>The file is long because it lists every operation of an actor: each is short and independent
 * of the others, and all of them share the actor's random numbers, nesting depth and expected
 * state.
 */
final class WorldActor {
  /** The operations of an actor. */
  interface Part {
    void play(WorldActor self) throws Exception;
  }

  /** A planned failure of an actor. */
  static final class Planned extends RuntimeException {
    private static final long serialVersionUID = 1;

    Planned() {
      super("planned", null, false, false);
    }
  }

  /** Longer than any run. */
  private static final Duration LONG = Duration.ofHours(1);

  private static final int MOST_STEPS = 25;
  private static final int DEEPEST = 2;

  private final WorldStress world;
  private final int number;
  private final SplittableRandom random;
  private final boolean maybeVictim;
  private final Part part;
  private final Received received;
  private int valuesMade;

  // the nesting depth of steps
  private int depth;

  // the nesting depth of time limits
  private int limits;

  // the thread of the scheduler it must be on, or -1
  private int bound = -1;

  // set before this actor is cancelled or interrupted
  private volatile boolean cancelled;

  // exactly one of the two is set after the start
  private volatile @Nullable Fiber<Void> fiber;
  private volatile @Nullable Thread thread;

  private volatile boolean woken;
  private volatile String doing = "nothing yet";

  WorldActor(
      WorldStress world, int number, SplittableRandom random, boolean maybeVictim, Part part) {
    this.world = world;
    this.number = number;
    this.random = random;
    this.maybeVictim = maybeVictim;
    this.part = part;
    this.received = world.things.new Received();
  }

  int number() {
    return number;
  }

  @Override
  public String toString() {
    return "actor %d%s: %s".formatted(number, cancelled ? ", cancelled" : "", doing);
  }

  // ---- called by other actors ----

  void startFiber(Scheduler where, FiberOptions options) {
    FiberOptions placed = options;
    if (random.nextInt(5) == 0) {
      bound = world.anyThread(where, random);
      placed = options.onThread(bound);
    }
    Fiber<Void> started = where.go(placed, this::play);
    fiber = started;
    var _ = started.toFuture().whenComplete((done, e) -> world.ended(this));
  }

  void startThread(Thread.Builder builder) {
    thread =
        builder
            .name("actor-" + number)
            .start(
                () -> {
                  try {
                    play();
                  } catch (Planned e) {
                    // ignored
                  } finally {
                    world.ended(this);
                  }
                });
  }

  @Nullable Thread plainThread() {
    return thread;
  }

  void cancel() {
    cancelled = true;
    Fiber<Void> started = fiber;
    Thread plain = thread;
    if (started != null) {
      started.cancel();
    } else if (plain != null) {
      plain.interrupt();
    }
  }

  /** Waits for the end, sometimes with a short limit; failures and cancels must be planned. */
  void join(WorldActor joiner) throws InterruptedException {
    Fiber<Void> started = fiber;
    if (started == null) {
      Thread plain = thread;
      if (plain != null && joiner.random.nextBoolean()) {
        plain.join(joiner.limit());
      } else if (plain != null) {
        plain.join();
      }
      return;
    }
    try {
      if (joiner.random.nextInt(3) == 0) {
        started.join(joiner.limit());
      } else {
        started.join();
      }
    } catch (TimeoutException e) {
      // the actor goes on
    } catch (CompletionException e) {
      world.check(e.getCause() instanceof Planned, () -> "an unplanned failure: " + e.getCause());
    } catch (CancellationException e) {
      world.check(cancelled, () -> this + " is cancelled although no actor cancelled it");
    }
  }

  // ---- operations ----

  /** Runs the operations, and reports their faults. */
  private void play() {
    try {
      part.play(this);
    } catch (InterruptedException | CancellationException e) {
      world.guarded(
          () ->
              world.check(
                  cancelled,
                  () -> this + " is interrupted although no actor interrupted it: " + stackOf(e)));
    } catch (Planned e) {
      throw e;
    } catch (Throwable e) {
      world.guarded(
          () -> {
            throw new AssertionError(this + " failed", e);
          });
    }
  }

  private static String stackOf(Throwable e) {
    StringBuilder text = new StringBuilder(e.toString());
    for (StackTraceElement frame : e.getStackTrace()) {
      text.append("\n    at ").append(frame);
    }
    return text.toString();
  }

  /** The operations of most actors, one after the other. */
  void live() throws Exception {
    for (int steps = random.nextInt(MOST_STEPS); steps > 0 && world.goesOn(); steps--) {
      step();
    }
  }

  private void step() throws Exception {
    world.operations.incrementAndGet();
    checkPlace();
    depth++;
    try {
      if (random.nextInt(5) < 3 || depth > DEEPEST) {
        simpleStep();
      } else if (Fiber.current().isPresent() && random.nextInt(4) == 0) {
        stepOfFiber();
      } else {
        stepWithOthers();
      }
    } finally {
      depth--;
    }
  }

  private void checkPlace() {
    int index = Fiber.threadIndex();
    world.check(bound < 0 || index == bound, () -> "bound to " + bound + " but on " + index);
  }

  /** Performs an operation that needs no other actor; also on a helper thread. */
  private void simpleStep() throws Exception {
    switch (random.nextInt(12)) {
      case 0, 1 -> doing("pauses", this::pause);
      case 2, 3 -> doing("sends", this::send);
      case 4 -> doing("receives", this::receive);
      case 5 -> doing("selects", this::select);
      case 6, 7 -> doing("visits rooms", () -> visit(world.things.anyRoom(random)));
      case 8 -> doing("takes permits", this::takePermits);
      case 9 -> doing("uses the store", this::useStore);
      case 10 -> doing("sets a timer", this::setTimer);
      default -> doing("disturbs", this::disturb);
    }
  }

  private void stepOfFiber() throws Exception {
    switch (random.nextInt(4)) {
      case 0 -> doing("suspends", this::suspendUntilWoken);
      case 1 -> doing("switches", this::move);
      case 2 -> doing("holds its thread", this::holdThread);
      default -> doing("has a blocking call", this::block);
    }
  }

  private void stepWithOthers() throws Exception {
    switch (random.nextInt(11)) {
      case 0 -> doing("has a child", this::haveChild);
      case 1 -> doing("converses", this::converse);
      case 2 -> doing("meets at a barrier", this::meet);
      case 3 -> doing("waits for a group", this::awaitGroup);
      case 4 -> doing("awaits a condition", this::awaitCondition);
      case 5 -> doing("waits for a pipe", this::awaitPipe);
      case 6 -> doing("has a recurring timer", this::setRecurringTimer);
      case 7 -> doing("is in a scope", this::beInScope);
      case 8 -> doing("is shielded", () -> Weft.shielded(this::simpleStep));
      default -> doing("is in a hurry", this::hurry);
    }
  }

  private void doing(String what, Body body) throws Exception {
    String before = doing;
    doing = what;
    body.run();
    doing = before;
  }

  private Duration shortTime() {
    return Duration.ofNanos(random.nextInt(400_000));
  }

  /** A limit for a wait that ends before it: a long limit must leave no timer behind. */
  private Duration limit() {
    return random.nextBoolean() ? LONG : shortTime();
  }

  private void pause() throws InterruptedException {
    switch (random.nextInt(5)) {
      case 0 -> Fiber.sleep(shortTime());
      case 1 -> Thread.sleep(shortTime());
      case 2 -> LockSupport.parkNanos(random.nextInt(200_000));
      case 3 -> Thread.yield();
      default -> {
        if (Fiber.current().isPresent()) {
          Fiber.yield();
        }
      }
    }
  }

  // ---- channels ----

  private Value newValue() {
    return world.things.newValue(number, valuesMade++);
  }

  private void send() throws InterruptedException {
    Channel<Value> channel = world.things.anyLine(random).channel;
    Value value = newValue();
    boolean sent =
        switch (random.nextInt(4)) {
          case 0 -> channel.trySend(value);
          case 1 -> channel.send(value, limit());
          default -> {
            channel.send(value);
            yield true;
          }
        };
    if (sent) {
      value.wasSent();
    }
  }

  private void receive() throws InterruptedException {
    Line line = world.things.anyLine(random);
    (random.nextBoolean() ? line.channel.tryReceive() : line.channel.receive(shortTime()))
        .ifPresent(value -> received.add(line, value));
  }

  private void select() throws InterruptedException {
    List<Select.Clause<Runnable>> clauses = new ArrayList<>();
    boolean ends = false;
    for (int i = 1 + random.nextInt(3); i > 0; i--) {
      Line line = world.things.anyLine(random);
      if (random.nextBoolean()) {
        clauses.add(line.channel.onReceive(value -> () -> received.add(line, value)));
      } else {
        Value value = newValue();
        clauses.add(line.channel.onSend(value, () -> value::wasSent));
        ends = true; // as the pump receives it
      }
    }
    if (random.nextInt(4) == 0) {
      clauses.add(Select.otherwise(() -> () -> {}));
    } else if (!ends || random.nextBoolean()) {
      clauses.add(Select.timeout(ends ? limit() : shortTime(), () -> () -> {}));
    }
    @SuppressWarnings({"unchecked", "rawtypes"})
    Select.Clause<Runnable>[] array = clauses.toArray(new Select.Clause[0]);
    Select.of(array).run();
  }

  // ---- locks ----

  /** Enters a room, pauses there, and perhaps goes on to a room behind it. */
  private void visit(Room room) throws InterruptedException {
    boolean reads = room.isShared() && random.nextBoolean();
    Lock lock = room.lock(reads);
    boolean locked =
        switch (random.nextInt(4)) {
          case 0 -> lock.tryLock();
          case 1 -> lock.tryLock(limit().toNanos(), TimeUnit.NANOSECONDS);
          case 2 -> {
            lock.lockInterruptibly();
            yield true;
          }
          default -> {
            lock.lock();
            yield true;
          }
        };
    if (!locked) {
      return;
    }
    try {
      room.enter(reads);
      if (random.nextInt(3) > 0) {
        pause();
      }
      Room behind = world.things.roomBehind(room, random);
      if (behind != null && random.nextInt(3) == 0) {
        visit(behind);
      }
    } finally {
      room.leave(reads);
      lock.unlock();
    }
  }

  private void takePermits() throws InterruptedException {
    Permits permits = world.things.anyPermits(random);
    int count = 1 + random.nextInt(permits.all);
    boolean taken =
        switch (random.nextInt(3)) {
          case 0 -> permits.semaphore.tryAcquire(count);
          case 1 -> permits.semaphore.tryAcquire(count, limit());
          default -> {
            permits.semaphore.acquire(count);
            yield true;
          }
        };
    if (taken) {
      try {
        permits.take(count);
        pause();
      } finally {
        permits.giveBack(count);
      }
    }
  }

  private void useStore() throws InterruptedException {
    if (random.nextBoolean()) {
      world.things.store().put(shortTime());
    } else {
      world.things.store().take(shortTime());
    }
  }

  // ---- timers and events ----

  /** Sets a timer that is called or cancelled, but never both. */
  private void setTimer() {
    world.timersSet.incrementAndGet();
    Timer timer =
        world
            .anyScheduler(random)
            .timers()
            .after(shortTime(), () -> world.timersEnded.incrementAndGet());
    switch (random.nextInt(4)) {
      case 0 -> {
        if (timer.cancel()) {
          world.timersEnded.incrementAndGet();
        }
      }
      case 1 -> timer.refresh();
      case 2 -> timer.reset(shortTime(), random.nextBoolean());
      default -> {}
    }
  }

  private void setRecurringTimer() throws InterruptedException {
    AtomicInteger inside = new AtomicInteger();
    Timer timer =
        world
            .anyScheduler(random)
            .timers()
            .every(
                Duration.ofNanos(50_000 + random.nextInt(300_000)),
                () -> {
                  int calls = inside.incrementAndGet();
                  world.check(calls == 1, () -> "a recurring timer runs concurrently with itself");
                  Thread.yield();
                  inside.decrementAndGet();
                });
    try {
      pause();
      pause();
    } finally {
      boolean inTime = timer.cancel();
      world.guarded(() -> world.check(inTime, () -> "a recurring timer ended by itself"));
    }
  }

  /** Waits until a byte from another actor can be read, or registers a callback for it. */
  private void awaitPipe() throws Exception {
    Scheduler scheduler = world.anyScheduler(random);
    Pipe pipe = Pipe.open();
    try (Pipe.SourceChannel source = pipe.source();
        Pipe.SinkChannel sink = pipe.sink()) {
      source.configureBlocking(false);
      boolean byCallback = random.nextBoolean();
      WaitGroup fired = new WaitGroup();
      if (byCallback) {
        fired.add(1);
        world.eventsSet.incrementAndGet();
        scheduler
            .io()
            .addEvent(
                source,
                IoEvent.READ,
                () -> {
                  world.eventsEnded.incrementAndGet();
                  fired.done();
                });
      }
      try {
        helped(() -> sink.write(ByteBuffer.allocate(1)));
        if (byCallback) {
          fired.await();
        } else {
          scheduler.io().await(source, IoEvent.READ, limit());
        }
      } catch (SocketTimeoutException e) {
        // the byte came too late
      } catch (InterruptedIOException e) {
        throw new InterruptedException("while waiting for a pipe");
      } finally {
        if (byCallback && scheduler.io().delEvent(source, IoEvent.READ)) {
          world.eventsEnded.incrementAndGet();
        }
      }
    }
  }

  // ---- with other actors ----

  /**
   * Lets another actor do this, which no actor cancels; or does it itself first, if there are too
   * many actors.
   */
  private void helped(Body body) throws Exception {
    WorldActor helper =
        world.start(
            random,
            false,
            self -> {
              self.pause();
              try {
                body.run();
              } catch (java.nio.channels.ClosedChannelException e) {
                // no actor waits any more
              }
            });
    if (helper == null) {
      body.run();
    }
  }

  /** Starts actors with the same operations, sometimes waits for them, sometimes cancels them. */
  private void haveChild() throws InterruptedException {
    boolean fails = random.nextInt(4) == 0;
    int level = depth;
    WorldActor child =
        world.start(
            random,
            random.nextInt(3) == 0,
            self -> {
              self.depth = level;
              self.live();
              if (fails) {
                throw new Planned();
              }
            });
    if (child == null) {
      return;
    }
    if (child.maybeVictim && random.nextInt(3) == 0) {
      child.cancel();
    }
    if (random.nextInt(3) > 0) {
      child.join(this);
    }
  }

  /** Receives from another actor on a private channel, until that actor closes it. */
  private void converse() throws Exception {
    Channel<Integer> channel = random.nextBoolean() ? Channel.rendezvous() : Channel.buffered(2);
    int count = random.nextInt(6);
    int kind = random.nextInt(3);
    WorldActor speaker =
        world.start(
            random,
            false,
            self -> {
              try (channel) {
                for (int i = 0; i < count; i++) {
                  channel.send(i);
                }
              } catch (ChannelClosedException e) {
                // the receiver has gone
              }
            });
    if (speaker == null) {
      return;
    }
    try (channel) {
      int next = 0;
      while (true) {
        int value =
            switch (kind) {
              case 0 -> Select.<Integer>of(channel.onReceive(v -> v));
              case 1 -> channel.receive(LONG).orElseThrow();
              default -> channel.receive();
            };
        int expected = next++;
        world.check(value == expected, () -> "received " + value + " instead of " + expected);
      }
    } catch (ChannelClosedException e) {
      // the sender has closed the channel, or this actor leaves
    }
  }

  /** Meets other actors at a barrier; if it gives up there it cancels them. */
  private void meet() throws InterruptedException {
    Barrier barrier = new Barrier(2 + random.nextInt(3));
    List<WorldActor> others = new ArrayList<>();
    boolean passed = false;
    try {
      for (int i = 1; i < barrier.parties(); i++) {
        WorldActor other = world.start(random, false, self -> barrier.await());
        if (other == null) {
          return;
        }
        others.add(other);
      }
      passed = barrier.await(limit());
    } finally {
      if (!passed) {
        others.forEach(WorldActor::cancel);
      }
    }
  }

  private void awaitGroup() throws Exception {
    WaitGroup group = new WaitGroup();
    AtomicInteger done = new AtomicInteger();
    int count = 1 + random.nextInt(3);
    group.add(count);
    for (int i = 0; i < count; i++) {
      helped(
          () -> {
            done.incrementAndGet();
            group.done();
          });
    }
    boolean all = true;
    if (random.nextBoolean()) {
      group.await();
    } else {
      all = group.await(limit());
    }
    if (all) {
      world.check(done.get() == count, () -> "await returned at " + done + " of " + count);
    }
  }

  private void awaitCondition() throws Exception {
    Mutex mutex = new Mutex();
    ConditionVariable variable = new ConditionVariable();
    AtomicBoolean isSo = new AtomicBoolean();
    helped(
        () -> {
          mutex.lock();
          try {
            isSo.set(true);
            variable.signal();
          } finally {
            mutex.unlock();
          }
        });
    mutex.lockInterruptibly();
    try {
      variable.await(mutex, isSo::get);
      world.check(isSo.get() && mutex.isHeldByCurrentThread(), () -> "a spurious wake-up");
    } finally {
      mutex.unlock();
    }
  }

  private void hurry() throws InterruptedException {
    limits++;
    try {
      Weft.withTimeout(
          limit(),
          () -> {
            step();
            return "done";
          });
    } catch (TimeoutException e) {
      // the body was too slow
    } catch (CompletionException e) {
      throw new AssertionError("in a hurry", e);
    } finally {
      limits--;
    }
    boolean interrupted = Thread.currentThread().isInterrupted();
    world.check(
        !interrupted || cancelled || limits > 0,
        () -> this + " has an interrupt status that no interrupt set");
  }

  /** Runs fibers in a scope, which ends in one of many ways; {@link ScopeStress} tests more. */
  private void beInScope() {
    AtomicInteger inside = new AtomicInteger();
    Scope.Joiner<?> joiner =
        switch (random.nextInt(3)) {
          case 0 -> Scope.Joiner.awaitAll();
          case 1 -> Scope.Joiner.anySuccessfulResultOrThrow();
          default -> Scope.Joiner.awaitAllSuccessfulOrThrow();
        };
    try (Scope scope = Scope.open(joiner, limit())) {
      for (int i = random.nextInt(4); i > 0; i--) {
        startMember(scope, inside);
      }
      if (random.nextInt(4) == 0) {
        scope.cancel();
      }
      scope.join();
    } catch (CompletionException e) {
      Throwable cause = e.getCause();
      world.check(
          cause instanceof Planned || cause instanceof TimeoutException,
          () -> "an unplanned failure: " + cause);
    } catch (CancellationException e) {
      if (Thread.currentThread().isInterrupted()) {
        throw e;
      }
    }
    world.check(inside.get() == 0, () -> inside + " fibers have outlived their scope");
  }

  private void startMember(Scope scope, AtomicInteger inside) {
    boolean fails = random.nextInt(6) == 0;
    WorldActor member =
        new WorldActor(
            world,
            world.nextNumber(),
            random.split(),
            false,
            self -> {
              self.depth = DEEPEST;
              self.step();
              if (self.random.nextInt(3) == 0) {
                self.startMember(scope, inside);
              }
              if (fails) {
                throw new Planned();
              }
            });
    member.cancelled = true; // a member may be cancelled at any time
    scope.go(
        () -> {
          inside.incrementAndGet();
          try {
            member.play();
          } finally {
            inside.decrementAndGet();
          }
        });
  }

  /** Cancels an actor, schedules a fiber that does not wait for that, or inspects all fibers. */
  private void disturb() {
    switch (random.nextInt(4)) {
      case 0 -> {
        WorldActor victim = world.takeVictim();
        if (victim != null) {
          victim.cancel();
        }
      }
      case 1 -> {
        WorldActor someone = world.someVictim();
        Fiber<?> other = someone == null ? null : someone.fiber;
        if (other != null) {
          schedule(other);
        }
      }
      case 2 -> world.anyScheduler(random).stats();
      default -> {
        if (random.nextInt(4) == 0) {
          world.anyScheduler(random).dump();
        }
      }
    }
  }

  private static void schedule(Fiber<?> fiber) {
    try {
      fiber.scheduler().schedule(fiber);
    } catch (IllegalArgumentException e) {
      // the fiber has just moved to another scheduler
    }
  }

  // ---- fibers only ----

  private void suspendUntilWoken() throws Exception {
    Fiber<?> self = Fiber.current().orElseThrow();
    woken = false;
    helped(
        () -> {
          woken = true;
          schedule(self);
        });
    while (!woken) {
      Fiber.suspend();
    }
  }

  private void move() {
    if (random.nextBoolean()) {
      int index = world.anyThread(Scheduler.current().orElseThrow(), random);
      Fiber.switchTo(index);
      bound = index;
    } else {
      Scheduler target = world.anyScheduler(random);
      Fiber.switchTo(target);
      bound = -1;
      world.check(
          Scheduler.current().orElseThrow() == target,
          () -> "the fiber is not on the scheduler it switched to");
    }
  }

  private void holdThread() throws InterruptedException {
    Hook.disable();
    try {
      Thread.sleep(shortTime());
    } finally {
      Hook.enable();
    }
  }

  private void block() throws Exception {
    int boundBefore = bound;
    bound = -1;
    Weft.blocking(
        () -> {
          world.check(Fiber.threadIndex() == -1, () -> "the fiber is not on a helper thread");
          simpleStep();
          return "done";
        });
    bound = boundBefore;
  }
}
