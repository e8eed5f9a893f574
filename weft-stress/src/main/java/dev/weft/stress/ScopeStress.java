package dev.weft.stress;

import dev.weft.Body;
import dev.weft.Fiber;
import dev.weft.Scheduler;
import dev.weft.SchedulerStats;
import dev.weft.Scope;
import dev.weft.Weft;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Trees of scopes: fibers open scopes, start fibers in them and in the scopes around them, join,
 * cancel, close without joining, leave scopes open, fail, run out of time, while plain threads
 * cancel scopes at random.
 *
 * <p>After a scope is closed none of its fibers is live or starts; each body has run once at most.
 * In an uncancelled tree every body has run to its end. At the end the schedulers have counted as
 * many ends as starts, and no timer is left.
 */
final class ScopeStress {
  private static final int ROOTS = 6;
  private static final int DEEPEST = 3;

  /** The largest number of fibers in a scope, including fibers that its fibers start. */
  private static final int MOST_MEMBERS = 20;

  private static final Duration LONG = Duration.ofHours(1);

  /** How the opener leaves its scope. */
  private enum Ending {
    JOIN,
    CANCEL_AND_JOIN,
    CLOSE,
    THROW,
    LEAVE_OPEN
  }

  /** A planned failure of a fiber. */
  private static final class Planned extends RuntimeException {
    private static final long serialVersionUID = 1;

    Planned() {
      super("planned", null, false, false);
    }
  }

  private final long seed;
  private final SplittableRandom random;
  private final Scheduler scheduler;
  private final String description;
  private final Set<Node> open = ConcurrentHashMap.newKeySet();
  private final Queue<Root> roots = new ConcurrentLinkedQueue<>();
  private final AtomicLong fibers = new AtomicLong();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

  private ScopeStress(long seed) {
    this.seed = seed;
    this.random = new SplittableRandom(seed);
    int threads = Threads.orElse(1 + random.nextInt(3));
    NamedPolicy policy = NamedPolicy.any(random);
    this.description = "%s on %d threads".formatted(policy.name(), threads);
    this.scheduler =
        Scheduler.builder()
            .threads(threads)
            .policy(policy.policy())
            .daemon(true)
            .blockedAfter(Duration.ofMinutes(1)) // a slow machine is no fault
            .onUncaught((fiber, e) -> {}) // failures are recorded where they happen
            .build();
  }

  /**
   * Grows this many trees, several at a time, with consecutive seeds from this seed on.
   *
   * @return the number of fibers in them
   */
  static long run(long trees, long seed, Progress progress) throws InterruptedException {
    Logger logger = Logger.getLogger("dev.weft");
    Level before = logger.getLevel();
    logger.setLevel(Level.SEVERE); // hides the reports of planned, unobserved failures
    try {
      long fibers = 0;
      for (long i = 0; i < trees; i += ROOTS) {
        ScopeStress round = new ScopeStress(seed + i / ROOTS);
        round.runWatched();
        fibers += round.fibers.get();
        progress.at(i + ROOTS);
      }
      return fibers;
    } finally {
      logger.setLevel(before);
    }
  }

  private void runWatched() throws InterruptedException {
    HangWatch.run(this::round, failure, () -> fibers + " " + open.size(), this::hangReport);
    Throwable found = failure.get();
    if (found != null) {
      throw new AssertionError(
          "%s; again: ./weft stress scopes=%d --seed %d%n%s"
              .formatted(description, ROOTS, seed, found),
          found);
    }
  }

  private String hangReport() {
    return "it hangs\n" + scheduler.stats() + '\n' + scheduler.dump().text();
  }

  private void round() throws InterruptedException {
    scheduler.start();
    SplittableRandom ofPlain = random.split();
    Thread plain = Thread.ofPlatform().daemon().start(() -> new Root().run(ofPlain));
    List<Fiber<Void>> fibersOfRoots = new ArrayList<>();
    for (int i = 1; i < ROOTS; i++) {
      SplittableRandom own = random.split();
      Root root = new Root();
      root.fiber = scheduler.go(() -> root.run(own));
      fibersOfRoots.add(root.fiber);
      roots.add(root);
    }
    while (plain.isAlive()
        || fibersOfRoots.stream().anyMatch(root -> root.status() != Fiber.Status.DONE)) {
      disturb();
      LockSupport.parkNanos(200_000);
    }
    check(open.isEmpty(), () -> open.size() + " scopes are open");
    while (scheduler.stats().threads().stream().anyMatch(thread -> thread.timers() > 0)) {
      LockSupport.parkNanos(200_000); // a tree that stays is a hang
    }
    scheduler.stop();
    SchedulerStats stats = scheduler.stats();
    check(stats.begun() == stats.ended(), () -> "fibers are left: " + stats);
    check(stats.rescues() == 0, () -> "lost wake-ups: " + stats);
  }

  /**
   * Cancels a scope somewhere in a tree, or a whole tree; seldom, so that some trees stay
   * undisturbed.
   */
  private void disturb() {
    switch (random.nextInt(10)) {
      case 0 -> {
        Root root = roots.poll();
        if (root != null && random.nextInt(4) == 0) {
          root.disturbed = true; // before the cancel: scopes that open meanwhile see it too
          Objects.requireNonNull(root.fiber).cancel();
        }
      }
      case 1, 2 -> {
        for (Node node : open) {
          if (random.nextInt(8) == 0) {
            node.disturbed = true;
            node.scope.cancel();
            break;
          }
        }
      }
      case 3 -> scheduler.dump();
      default -> {}
    }
  }

  private void check(boolean holds, Supplier<String> what) {
    if (!holds) {
      AssertionError error = new AssertionError(what.get());
      failure.compareAndSet(null, error);
      throw error;
    }
  }

  // ---- a tree ----

  /** The fiber, or plain thread, that grows a tree. */
  private final class Root {
    // of the thread that disturbs only
    private @Nullable Fiber<Void> fiber;

    // set before the fiber is cancelled
    private volatile boolean disturbed;

    void run(SplittableRandom own) {
      try {
        tree(this, null, true, own, 0);
      } catch (Planned | CompletionException | IllegalStateException e) {
        // an expected ending; a CancellationException too
      } catch (Throwable e) {
        failure.compareAndSet(null, e);
      }
    }
  }

  /** One scope, as its fibers and this program see it. */
  private static final class Node {
    private final Root root;
    private final @Nullable Node parent;
    private final Scope scope;
    private final AtomicInteger started = new AtomicInteger();
    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicInteger finished = new AtomicInteger();
    private final Queue<Fiber<Void>> members = new ConcurrentLinkedQueue<>();
    private volatile boolean closed;

    // whether its fibers will be cancelled if they wait long enough
    private final boolean doomed;

    // set before anything happens that may cancel its fibers
    private volatile boolean disturbed;

    Node(Root root, @Nullable Node parent, Scope scope, boolean doomed) {
      this.root = root;
      this.parent = parent;
      this.scope = scope;
      this.doomed = doomed;
    }

    boolean isCalm() {
      return !disturbed && (parent == null ? !root.disturbed : parent.isCalm());
    }
  }

  /**
   * Opens a scope, starts fibers in it and leaves it in some way.
   *
   * @param calm whether nothing around the scope will cancel it, as far as the parent knows
   */
  private void tree(
      Root root, @Nullable Node parent, boolean calm, SplittableRandom own, int depth) {
    int kind = own.nextInt(4);
    Scope.Joiner<?> joiner =
        switch (kind) {
          case 0 -> Scope.Joiner.anySuccessfulResultOrThrow();
          case 1 -> Scope.Joiner.awaitAll();
          case 2 -> Scope.Joiner.allSuccessfulOrThrow();
          default -> Scope.Joiner.awaitAllSuccessfulOrThrow();
        };
    Ending ending = own.nextInt(3) > 0 ? Ending.JOIN : anyEnding(own, depth);
    boolean hurries = own.nextInt(6) == 0;
    Scope scope = Scope.open(joiner, hurries ? Duration.ofNanos(own.nextInt(500_000)) : LONG);
    Node node = new Node(root, parent, scope, hurries || ending != Ending.JOIN);
    node.disturbed = node.doomed || !calm || kind == 0;
    open.add(node);
    if (ending == Ending.LEAVE_OPEN) {
      checkAfterEndOfOpener(node);
      startMembers(node, own, depth);
      return;
    }
    try (scope) {
      startMembers(node, own, depth);
      switch (ending) {
        case JOIN -> join(node);
        case CANCEL_AND_JOIN -> {
          scope.cancel();
          scope.go(() -> check(false, () -> "a body runs although its scope was cancelled before"));
          join(node);
        }
        case THROW -> throw new Planned();
        default -> {}
      }
    } finally {
      ended(node);
    }
  }

  /** Chooses an ending; a root does not leave its scope open, since plain threads are roots too. */
  private static Ending anyEnding(SplittableRandom own, int depth) {
    Ending[] all = Ending.values();
    return all[own.nextInt(depth == 0 ? all.length - 1 : all.length)];
  }

  /**
   * The opener leaves the scope open: the end of the opener closes the scope, and fails the opener.
   */
  private void checkAfterEndOfOpener(Node node) {
    for (Node around = node.parent; around != null; around = around.parent) {
      around.disturbed = true; // that failure may cancel the siblings of the opener
    }
    var _ = Fiber.current().orElseThrow().toFuture().whenComplete((done, e) -> ended(node));
  }

  private void ended(Node node) {
    node.closed = true;
    open.remove(node);
    check(node.inside.get() == 0, () -> node.inside + " fibers have outlived their scope");
    for (Fiber<Void> member : node.members) {
      check(member.status() == Fiber.Status.DONE, () -> member + " has outlived its scope");
    }
  }

  private void join(Node node) {
    try {
      node.scope.join();
    } catch (CompletionException e) {
      check(isPlanned(e.getCause()), () -> "an unplanned failure: " + stackOf(e));
      check(!node.isCalm(), () -> "no fiber has failed, but join has: " + e);
      return;
    }
    check(
        !node.isCalm() || node.finished.get() == node.started.get(),
        () -> "%s of %s fibers have run to their end".formatted(node.finished, node.started));
  }

  /** A planned failure, a deadline, or a scope that was left open, or a consequence of these. */
  private static boolean isPlanned(Throwable e) {
    return e instanceof Planned
        || e instanceof TimeoutException
        || e instanceof IllegalStateException
        || Arrays.stream(e.getSuppressed()).anyMatch(ScopeStress::isPlanned);
  }

  private static String stackOf(Throwable e) {
    StringWriter text = new StringWriter();
    e.printStackTrace(new PrintWriter(text));
    return text.toString();
  }

  private void startMembers(Node node, SplittableRandom own, int depth) {
    for (int i = own.nextInt(5); i > 0; i--) {
      start(node, own, depth);
    }
  }

  /** Starts a fiber in the scope of a node; called by any fiber inside it. */
  private void start(Node node, SplittableRandom own, int depth) {
    if (node.started.get() >= MOST_MEMBERS) {
      return;
    }
    node.started.incrementAndGet();
    fibers.incrementAndGet();
    SplittableRandom ofMember = own.split();
    AtomicBoolean begun = new AtomicBoolean();
    Body body =
        () -> {
          check(begun.compareAndSet(false, true), () -> "a body runs twice");
          check(!node.closed, () -> "a body starts after the close of its scope");
          node.inside.incrementAndGet();
          try {
            member(node, ofMember, depth + 1);
            node.finished.incrementAndGet();
          } finally {
            node.inside.decrementAndGet();
          }
        };
    boolean named = own.nextInt(4) == 0;
    node.members.add(named ? node.scope.go("member", body) : node.scope.go(body));
  }

  private void member(Node node, SplittableRandom own, int depth) throws Exception {
    for (int i = own.nextInt(5); i > 0 && failure.get() == null; i--) {
      switch (own.nextInt(12)) {
        case 0, 1 -> Fiber.yield();
        case 2 -> Fiber.sleep(Duration.ofNanos(own.nextInt(200_000)));
        case 3, 4 -> start(node, own, depth);
        case 5 -> {
          if (node.parent != null) { // a fiber inside a scope is also inside the scopes around it
            start(node.parent, own, depth);
          }
        }
        case 6 -> nested(node, true, own, depth);
        case 7 -> {
          if (node.doomed) {
            Fiber.sleep(LONG); // the coming cancel ends it
          }
        }
        case 8 -> {
          node.disturbed = true;
          throw new Planned();
        }
        case 9 -> Weft.shielded(() -> Fiber.sleep(Duration.ofNanos(own.nextInt(100_000))));
        case 10 -> Weft.blocking(() -> Thread.sleep(Duration.ofNanos(own.nextInt(100_000))));
        default -> {
          try {
            Weft.withTimeout(
                Duration.ofNanos(own.nextInt(400_000)), () -> nested(node, false, own, depth));
          } catch (TimeoutException e) {
            // the limit has passed
          }
        }
      }
    }
  }

  private void nested(Node node, boolean calm, SplittableRandom own, int depth) {
    if (depth == DEEPEST) {
      return;
    }
    try {
      tree(node.root, node, calm, own, depth);
    } catch (CancellationException e) {
      if (Thread.currentThread().isInterrupted()) {
        throw e; // this fiber is cancelled, or past a deadline
      }
    } catch (Planned | CompletionException | IllegalStateException e) {
      // the expected ending
    }
  }
}
