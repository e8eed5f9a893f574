package dev.weft.sim.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.internal.sched.SchedulerCore;
import dev.weft.testkit.Feature;
import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ConstantDesc;
import java.lang.constant.DirectMethodHandleDesc;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiPredicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Every class of the JDK that reads a clock is rewritten, or stands here with the reason why its
 * real clock does no harm. A new JDK that reads one elsewhere fails this test, and so does a new
 * read in weft-core that goes past the scheduler's clock.
 */
@Feature("V2")
class ClockReadersTest {
  private static final Set<String> LEFT =
      Set.of(
          // loads and measures classes
          "java/lang/ClassLoader",
          "java/net/URLClassLoader",
          "java/util/zip/ZipFile",
          "jdk/internal/module/ModuleBootstrap$Counters",
          "jdk/internal/module/ModulePath",
          "jdk/internal/perf/PerfCounter",
          "jdk/internal/logger/BootstrapLogger$LogEvent",
          // a process of the operating system cannot be simulated
          "java/lang/Process",
          // names are resolved by the simulated network
          "java/net/InetAddress$CachedLocalHost",
          "java/net/InetAddress$NameServiceAddresses",
          "java/net/InetAddress$ValidCachedLookup",
          "sun/net/dns/ResolverConfigurationImpl",
          // dates decades ago or to come
          "java/util/Currency",
          "java/util/Currency$CurrencyProperty",
          "java/util/Currency$SpecialCaseEntry",
          // a cache of files that do not change
          "java/util/ResourceBundle",
          // seeds of generators that are seeded again, and of SecureRandom, which is replaced
          "jdk/internal/util/random/RandomSupport",
          "sun/security/provider/NativePRNG$RandomIO",
          "sun/security/provider/SeedGenerator",
          "sun/security/provider/SeedGenerator$ThreadedSeedGenerator",
          // used only where the system has no epoll
          "sun/nio/ch/PollSelectorImpl");

  /**
   * What of weft-core reads a real clock, methods or whole packages. Every other read goes through
   * the clock of the scheduler, which in a simulation is virtual.
   */
  private static final Set<String> LEFT_IN_WEFT =
      Set.of(
          // the clock of schedulers outside simulations, and what chooses it
          "dev/weft/internal/Clock.<clinit>",
          "dev/weft/internal/sched/SchedulerCore.<init>",
          // for callers that are no fibers
          "dev/weft/internal/sched/SchedulerCore.timeHere",
          // plain threads, and fibers that hold their thread: all of the thread waits, in real time
          "dev/weft/internal/sched/Timeout.of",
          "dev/weft/internal/sched/Timeout$OfThread.park",
          // Instant.now, which is virtual in a simulation, because the JDK's clock is
          "dev/weft/Fiber.sleepUntil",
          "dev/weft/internal/sync/LockCondition.awaitUntil",
          // computing threads and their start-up time: a scheduler in a world has none
          "dev/weft/internal/sched/SetApart.run",
          "dev/weft/internal/sched/SchedulerConfig.<clinit>",
          // failures that the watchdog reports later; a simulation takes them all at its end
          "dev/weft/internal/sched/UnobservedFailures.",
          // waits for a thread of the JVM that looks at stacks
          "dev/weft/internal/sched/FiberCore.awaitResubmission",
          "dev/weft/internal/switching/UnmountedThread.",
          // a name that no other copy of Weft has
          "dev/weft/internal/jdk/NativeOpening.openHere",
          // threads outside: the watchdog, beans, ./weft ps and its kin; no fiber sees their time
          "dev/weft/internal/watch/",
          "dev/weft/internal/beans/",
          "dev/weft/internal/attach/");

  // ---- the JDK ----

  @Test
  void everyReaderOfAClockIsRewrittenOrLeftForAReason() throws IOException {
    FileSystem runtime = FileSystems.getFileSystem(URI.create("jrt:/"));
    Set<String> readers = new TreeSet<>();
    for (String module : Set.of("java.base", "java.net.http", "jdk.httpserver")) {
      readersIn(runtime.getPath("/modules", module), ClockReadersTest::isSystemClock)
          .forEach(method -> readers.add(method.substring(0, method.lastIndexOf('.'))));
    }
    readers.removeIf(JdkPatches::concerns);
    assertThat(readers).containsExactlyInAnyOrderElementsOf(LEFT);
  }

  // ---- weft-core ----

  @Test
  @Feature({"V1", "V2"})
  void everyReadOfWeftGoesThroughTheSchedulersClockOrIsLeftForAReason() throws Exception {
    Path core =
        Path.of(SchedulerCore.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    Set<String> readers;
    if (Files.isDirectory(core)) {
      readers = readersIn(core, ClockReadersTest::isClock);
    } else {
      try (FileSystem jar = FileSystems.newFileSystem(core)) {
        readers = readersIn(jar.getPath("/"), ClockReadersTest::isClock);
      }
    }
    assertThat(readers).allSatisfy(reader -> assertThat(LEFT_IN_WEFT).anyMatch(reader::startsWith));
    assertThat(LEFT_IN_WEFT)
        .as("reads that are still there")
        .allSatisfy(left -> assertThat(readers).anyMatch(reader -> reader.startsWith(left)));
  }

  // ---- reading class files ----

  /**
   * Returns the methods of classes that use something, such as {@code java/util/Timer.mainLoop}.
   */
  private static Set<String> readersIn(Path root, BiPredicate<String, String> clock)
      throws IOException {
    Set<String> readers = new TreeSet<>();
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file :
          (Iterable<Path>) files.filter(f -> f.toString().endsWith(".class"))::iterator) {
        ClassModel type = ClassFile.of().parse(file);
        for (MethodModel method : type.methods()) {
          if (method.code().isPresent() && reads(method.code().get(), clock)) {
            String name = method.methodName().stringValue();
            readers.add(type.thisClass().asInternalName() + "." + source(name));
          }
        }
      }
    }
    return readers;
  }

  /** Returns the name of the method in the source: a lambda belongs to the method it is in. */
  private static String source(String method) {
    if (!method.startsWith("lambda$")) {
      return method;
    }
    String outer = method.split("\\$", -1)[1];
    return switch (outer) {
      case "new" -> "<init>";
      case "static" -> "<clinit>";
      default -> outer;
    };
  }

  private static boolean reads(CodeModel code, BiPredicate<String, String> clock) {
    return code.elementStream()
        .anyMatch(
            element ->
                switch (element) {
                  case InvokeInstruction call ->
                      clock.test(call.owner().asInternalName(), call.name().stringValue());
                  case FieldInstruction field ->
                      clock.test(field.owner().asInternalName(), field.name().stringValue());
                  case InvokeDynamicInstruction call ->
                      call.bootstrapArgs().stream().anyMatch(argument -> refersTo(argument, clock));
                  default -> false;
                });
  }

  private static boolean refersTo(ConstantDesc argument, BiPredicate<String, String> clock) {
    return argument instanceof DirectMethodHandleDesc handle
        && clock.test(
            handle.owner().descriptorString().replaceAll("^L|;$", ""), handle.methodName());
  }

  private static boolean isSystemClock(String owner, String method) {
    return owner.equals("java/lang/System")
        && Set.of("nanoTime", "currentTimeMillis").contains(method);
  }

  /** Returns whether it is a real clock, by whatever name. */
  private static boolean isClock(String owner, String member) {
    return isSystemClock(owner, member)
        || (owner.equals("dev/weft/internal/Clock") && member.equals("SYSTEM"))
        || (owner.equals("java/time/Clock") && member.startsWith("system"))
        || (owner.startsWith("java/time/") && member.equals("now"));
  }
}
