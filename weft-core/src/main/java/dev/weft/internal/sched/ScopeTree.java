package dev.weft.internal.sched;

import dev.weft.Body;
import dev.weft.FiberOptions;
import dev.weft.internal.Log;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * The tree that scopes and fibers form, along which cancellation goes down: a scope has fibers, a
 * fiber has a stack of scopes that it has opened. And the end of scopes that a fiber leaves open.
 */
public final class ScopeTree {
  private ScopeTree() {}

  /**
   * Called when a fiber is cancelled: cancels the scopes that it has opened, except shielded ones.
   */
  static void cancelAllOf(OpenBlocks blocks) {
    Deque<ScopeCore> todo = new ArrayDeque<>();
    addAll(blocks, todo);
    cancelAll(todo);
  }

  /** Goes down the tree with a work list and not by recursion: the tree may be very deep. */
  static void cancelAll(Deque<ScopeCore> todo) {
    for (ScopeCore scope = todo.poll(); scope != null; scope = todo.poll()) {
      for (FiberCore<?> fiber : scope.setCancelled()) {
        OpenBlocks below = fiber.cancelAlone() ? fiber.blocks : null;
        if (below != null) {
          addAll(below, todo);
        }
      }
    }
  }

  /** Adds the scopes of one owner that its cancel reaches. */
  private static void addAll(OpenBlocks blocks, Deque<ScopeCore> todo) {
    for (ScopeCore scope = blocks.scope(); scope != null; scope = scope.outer) {
      if (!scope.isShieldedFrom(0)) {
        todo.add(scope);
      }
    }
  }

  /** Returns the scopes of one owner that a deadline of it reaches; takes no lock. */
  static List<ScopeCore> inside(Deadline deadline, OpenBlocks blocks) {
    List<ScopeCore> reached = new ArrayList<>();
    for (ScopeCore scope = blocks.scope(); scope != null; scope = scope.outer) {
      if (scope.around != null
          && scope.around.isWithin(deadline)
          && !scope.isShieldedFrom(deadline.depth())) {
        reached.add(scope);
      }
    }
    return reached;
  }

  /** Cancels scopes because a time limit around them has passed. */
  static void expireAll(List<ScopeCore> scopes) {
    for (ScopeCore scope : scopes) {
      scope.expireAround();
    }
  }

  /**
   * Ends the scopes of a stack down to the last; adds their failures to the misuse, as suppressed.
   */
  static void endAll(ScopeCore innermost, @Nullable ScopeCore last, ScopeMisuse misuse) {
    Deque<ScopeCore> all = new ArrayDeque<>();
    for (ScopeCore scope = innermost; scope != null; scope = scope == last ? null : scope.outer) {
      all.add(scope);
    }
    cancelAll(new ArrayDeque<>(all)); // first: fibers of one scope may wait for those of another
    for (ScopeCore scope : all) {
      scope.end();
      try {
        scope.throwAfterEnd(true);
      } catch (RuntimeException | Error e) {
        misuse.addSuppressed(e);
      }
    }
  }

  // ---- scopes left open ----

  /**
   * Ends the scopes that the fiber, the current one, has left open. Returns how the fiber is to
   * end: a scope left open fails it, or is suppressed in the failure that the body ended with. If
   * that failure keeps no suppressed exceptions, the scope left open is logged.
   */
  static Object closeLeftOpen(FiberCore<?> self, Object result) {
    try {
      ScopeMisuse leftOpen = endLeftOpen(self, self);
      if (result instanceof Outcome.Failure(Throwable thrown)) {
        thrown.addSuppressed(leftOpen);
        if (!List.of(thrown.getSuppressed()).contains(leftOpen)) {
          Log.logger()
              .log(
                  Level.ERROR,
                  "%s failed with %s, which keeps no suppressed exceptions: %s"
                      .formatted(self, thrown, leftOpen.getMessage()),
                  leftOpen);
        }
        return result;
      }
      return Outcome.failed(leftOpen);
    } catch (Throwable e) { // no memory: the fiber must end all the same
      return Outcome.failed(e);
    }
  }

  /**
   * Ends the scopes that the fiber, the current one, has left open; returns the exception that says
   * so.
   *
   * @param left what has ended, for the message: the fiber or a part of its work
   */
  public static ScopeMisuse endLeftOpen(FiberCore<?> self, Object left) {
    ScopeMisuse misuse = leftOpenBy(left, "cancelled and awaited");
    endAll(Objects.requireNonNull(OpenBlocks.of(self).scope(), "an open scope"), null, misuse);
    return misuse;
  }

  /**
   * Cancels the scopes that a guest has left open; called by a worker, when the guest's thread has
   * terminated and cannot wait for them any more. A new fiber cancels them, then fails, so that the
   * mistake is reported as an unobserved failure.
   */
  static void cancelLeftOpen(FiberCore<?> guest) {
    OpenBlocks blocks = Objects.requireNonNull(guest.blocks, "the blocks of an open scope");
    Body cancel =
        () -> {
          cancelAllOf(blocks);
          throw leftOpenBy(guest, "cancelled");
        };
    try {
      guest.core().begin(FiberOptions.named("left open"), cancel);
    } catch (RejectedExecutionException e) {
      Log.logger().log(Level.WARNING, leftOpenBy(guest, "given up").getMessage());
    }
  }

  private static ScopeMisuse leftOpenBy(Object left, String fate) {
    return new ScopeMisuse(
        left
            + " ended and left a scope open; its fibers were "
            + fate
            + ". Open scopes with try (Scope scope = Scope.open())",
        true);
  }
}
