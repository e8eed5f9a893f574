package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.KnownBug;
import java.util.List;

/** The known bugs of the set. */
public final class KnownBugs {
  /** Each bug once. */
  public static final List<KnownBug> ALL =
      List.of(
          LostUpdate.BUG,
          WrongLock.BUG,
          AccountTransfer.BUG,
          TwoStage.BUG,
          Reorder.BUG,
          CheckThenPop.BUG,
          DriverStop.BUG,
          CircularBuffer.BUG,
          StringBufferAppend.BUG,
          WorkStealingQueue.BUG,
          LazyInitTwice.BUG,
          DoubleCheckedLocking.BUG,
          CheckThenPut.BUG,
          WordCount.BUG,
          Overbooking.BUG,
          DoublePayment.BUG,
          LinkedListAdd.BUG,
          IteratorInvalidation.BUG,
          StaleCache.BUG,
          TreiberStackAba.BUG,
          CachedResult.BUG,
          NumberRange.BUG,
          VectorLast.BUG,
          CopyOnWriteLost.BUG,
          OptimisticRead.BUG,
          IgnoredTryLock.BUG,
          LockFreeListInsert.BUG,
          TicketOrder.BUG,
          UpgradeToWriteLock.BUG,
          DoubleClose.BUG,
          FreedQueue.BUG,
          DoneBeforeResult.BUG,
          TokenRing.BUG,
          OutputBeforeCopy.BUG,
          WaitGroupAddInside.BUG,
          IfAroundWait.BUG,
          MissedNotify.BUG,
          LostUnpark.BUG,
          SleepingBarber.BUG,
          BoundedBufferNotify.BUG,
          SignalForgottenOnError.BUG,
          BarrierReuse.BUG,
          AbbaDeadlock.BUG,
          DiningPhilosophers.BUG,
          LockOrderByCallback.BUG,
          SerializedVectors.BUG,
          RecursiveReadLock.BUG,
          ReadLockAcrossWait.BUG,
          LockOfLocks.BUG,
          NestedMonitor.BUG,
          PoolStarvation.BUG,
          PermitLeak.BUG,
          WriterWaitsForMerge.BUG,
          ReceiverLeft.BUG,
          SelectForgetsDone.BUG,
          SendOnClosed.BUG,
          LockAcrossSend.BUG,
          TwoLoops.BUG,
          CancelLosesItem.BUG,
          TimerVersusRefresh.BUG,
          TwoWinners.BUG,
          LogShutdown.BUG,
          PetersonLock.BUG);

  /** A bug that needs more seeds than the bar allows. */
  public static final KnownBug HARDEST = SafeStack.BUG;

  private KnownBugs() {}
}
