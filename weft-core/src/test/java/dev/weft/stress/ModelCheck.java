package dev.weft.stress;

import java.util.List;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;

/**
 * Runs locks and channels through Lincheck's model checker, after it has been shown to find the
 * planted bugs. In a JVM of its own, for Lincheck attaches an agent that rewrites classes.
 *
 * <p>{@code main} takes the number of scenarios for each class and of interleavings for each
 * scenario; its exit status is 0 if all went as it should.
 */
public final class ModelCheck {
  private static final List<Class<?>> WRONG =
      List.of(
          PlantedBugs.LostWakeUp.class,
          PlantedBugs.BrokenExclusion.class,
          PlantedBugs.LostValue.class,
          PlantedBugs.DoubleHandOver.class);
  private static final List<Class<?>> RIGHT =
      List.of(
          SyncModels.OfMutex.class,
          SyncModels.OfSemaphore.class,
          SyncModels.OfSharedMutex.class,
          SyncModels.OfConditionVariable.class,
          ChannelModels.OfValues.class,
          ChannelModels.OfChannel.class,
          ChannelModels.OfSenders.class,
          ChannelModels.OfSelect.class);

  private ModelCheck() {}

  public static void main(String[] args) {
    int scenarios = args.length > 0 ? Integer.parseInt(args[0]) : 50;
    int interleavings = args.length > 1 ? Integer.parseInt(args[1]) : 10_000;
    boolean asItShould = true;
    for (Class<?> wrong : WRONG) {
      asItShould &= report(wrong, check(wrong, scenarios, interleavings), true);
    }
    for (Class<?> right : RIGHT) {
      asItShould &= report(right, check(right, scenarios, interleavings), false);
    }
    System.exit(asItShould ? 0 : 1);
  }

  private static boolean report(Class<?> type, String finding, boolean expected) {
    boolean found = !finding.isEmpty();
    System.out.println(type.getSimpleName() + (found ? ": caught" : ": silent"));
    if (found != expected) {
      System.out.println(finding);
    }
    return found == expected;
  }

  /** Returns what it found, or nothing. */
  private static String check(Class<?> type, int scenarios, int interleavings) {
    try {
      new ModelCheckingOptions()
          .threads(2)
          .actorsPerThread(1)
          .actorsBefore(0)
          .actorsAfter(1)
          .iterations(scenarios)
          .invocationsPerIteration(interleavings)
          .check(type);
      return "";
    } catch (LincheckAssertionError e) {
      return e.toString();
    }
  }
}
