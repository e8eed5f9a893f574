package dev.weft.time;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Fiber;
import dev.weft.testkit.Feature;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.constantpool.MemberRefEntry;
import java.lang.classfile.constantpool.MethodHandleEntry;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.classfile.instruction.InvokeInstruction;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * No code of Weft reads the wall clock, which can be set, except sleepUntil and the awaitUntil of a
 * condition, which take a wall-clock time. {@link TimerTest} checks what timers do with their
 * clock.
 */
@Feature("T5")
class MonotonicTimeTest {
  private static final Set<String> TIMES_OF_DAY =
      Set.of(
          "java/lang/System.currentTimeMillis",
          "java/time/Instant.now",
          "java/time/InstantSource.system",
          "java/time/Clock.systemUTC",
          "java/time/Clock.systemDefaultZone",
          "java/time/Clock.system",
          "java/time/LocalDateTime.now",
          "java/time/ZonedDateTime.now",
          "java/time/OffsetDateTime.now",
          "java/util/Date.<init>",
          "java/util/Calendar.getInstance",
          "java/util/concurrent/locks/LockSupport.parkUntil",
          "java/util/concurrent/locks/Condition.awaitUntil");

  @Test
  void onlyMethodsThatTakeAWallClockTimeReadTheWallClock() throws Exception {
    Path classes =
        Path.of(
            URI.create(Fiber.class.getProtectionDomain().getCodeSource().getLocation().toString()));
    assertThat(classes).isDirectory();
    Set<String> found = new TreeSet<>();
    int scanned = 0;
    List<Path> files;
    try (Stream<Path> walk = Files.walk(classes)) {
      files = walk.filter(file -> file.toString().endsWith(".class")).toList();
    }
    for (Path file : files) {
      scan(ClassFile.of().parse(file), found);
      scanned++;
    }
    assertThat(scanned).isGreaterThan(20);
    assertThat(found)
        .containsExactly(
            "dev/weft/Fiber.sleepUntil calls java/time/Instant.now",
            "dev/weft/internal/sync/LockCondition.awaitUntil calls java/time/Instant.now");
  }

  private static void scan(ClassModel model, Set<String> found) {
    String name = model.thisClass().asInternalName();
    for (MethodModel method : model.methods()) {
      method
          .code()
          .ifPresent(
              code ->
                  code.elementStream()
                      .filter(InvokeInstruction.class::isInstance)
                      .map(element -> called(((InvokeInstruction) element).method()))
                      .filter(TIMES_OF_DAY::contains)
                      .forEach(
                          call -> found.add(name + "." + method.methodName() + " calls " + call)));
    }
    for (PoolEntry entry : model.constantPool()) { // method references
      if (entry instanceof MethodHandleEntry handle
          && TIMES_OF_DAY.contains(called(handle.reference()))) {
        found.add(name + " refers to " + called(handle.reference()));
      }
    }
  }

  private static String called(MemberRefEntry member) {
    return member.owner().asInternalName() + "." + member.name();
  }
}
