package dev.weft.sim.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeModel;
import java.lang.classfile.instruction.InvokeInstruction;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Every class of the JDK that reads a clock is rewritten, or stands here with the reason why its
 * real clock does no harm. A new JDK that reads one elsewhere fails this test.
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

  private static boolean readsClock(CodeModel code) {
    return code.elementStream()
        .anyMatch(
            element ->
                element instanceof InvokeInstruction call
                    && call.owner().asInternalName().equals("java/lang/System")
                    && Set.of("nanoTime", "currentTimeMillis").contains(call.name().stringValue()));
  }

  private static boolean readsClock(Path type) {
    try {
      return ClassFile.of().parse(type).methods().stream()
          .flatMap(method -> method.code().stream())
          .anyMatch(ClockReadersTest::readsClock);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Set<String> readersIn(String module) throws IOException {
    FileSystem runtime = FileSystems.getFileSystem(URI.create("jrt:/"));
    Path root = runtime.getPath("/modules", module);
    try (Stream<Path> files = Files.walk(root)) {
      return files
          .filter(file -> file.toString().endsWith(".class"))
          .filter(ClockReadersTest::readsClock)
          .map(file -> root.relativize(file).toString().replaceAll("\\.class$", ""))
          .collect(Collectors.toCollection(TreeSet::new));
    }
  }

  @Test
  void everyReaderOfAClockIsRewrittenOrLeftForAReason() throws IOException {
    Set<String> readers = new TreeSet<>();
    for (String module : Set.of("java.base", "java.net.http", "jdk.httpserver")) {
      readers.addAll(readersIn(module));
    }
    readers.removeIf(JdkPatches::concerns);
    assertThat(readers).containsExactlyInAnyOrderElementsOf(LEFT);
  }
}
