package dev.weft.internal.jdk;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.internal.jdk.JdkInternals.How;
import dev.weft.internal.jdk.JdkInternals.Row;
import dev.weft.testkit.Feature;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The table of JDK internals says what the code looks up, exists in this JDK, and is the page. */
@Feature("H9")
class JdkInternalsTest {
  private static final Path ROOT = Path.of(System.getProperty("weft.root"));
  private static final Path PAGE = ROOT.resolve("docs/jdk-internals.md");
  private static final Path CODE = ROOT.resolve("weft-core/target/classes/dev/weft");

  private static final String PUBLIC = "the public member of this name is used";
  private static final String OTHER = "the word is the name of a member of another class";
  private static final String SWITCH = "the compiler's code for a switch";

  /** Words that are also names of hidden members of the JDK, and mean something else. */
  private static final Map<String, String> NO_LOOK_UPS =
      Map.ofEntries(
          Map.entry("java.lang.Class.forName", PUBLIC),
          Map.entry("java.lang.invoke.MethodHandle.type", PUBLIC),
          Map.entry("java.lang.invoke.MethodHandles.classData", PUBLIC),
          Map.entry("java.lang.invoke.MethodHandles.lookup", PUBLIC),
          Map.entry("java.io.FileDescriptor.close", OTHER), // SocketDispatcher
          Map.entry("jdk.internal.access.JavaIOFileDescriptorAccess.close", OTHER),
          Map.entry("sun.nio.ch.NioSocketImpl.close", OTHER),
          Map.entry("sun.nio.ch.NioSocketImpl.read", OTHER),
          Map.entry("sun.nio.ch.NioSocketImpl.write", OTHER),
          Map.entry("sun.nio.ch.SocketChannelImpl.read", OTHER),
          Map.entry("sun.nio.ch.SocketChannelImpl.write", OTHER),
          Map.entry("java.lang.Thread.cont", OTHER), // VirtualThread
          Map.entry("java.util.concurrent.ForkJoinPool.U", OTHER),
          Map.entry("jdk.internal.vm.Continuation.U", OTHER),
          Map.entry("java.lang.VirtualThread.start", OTHER), // Thread
          Map.entry("jdk.internal.vm.Continuation.currentCarrierThread", OTHER),
          Map.entry("jdk.internal.vm.ThreadSnapshot$ThreadLock.obj", OTHER), // ThreadBlocker
          Map.entry("jdk.internal.vm.ThreadSnapshot$ThreadLock.type", OTHER),
          Map.entry("sun.nio.ch.EPollPoller.POLLERS", OTHER), // Poller
          Map.entry("sun.nio.ch.EPollPoller.masterPoller", OTHER), // Poller$Pollers
          Map.entry("sun.nio.ch.Poller.masterPoller", OTHER),
          Map.entry("sun.nio.ch.Poller.readPollers", OTHER),
          Map.entry("sun.nio.ch.Poller.writePollers", OTHER),
          Map.entry("jdk.internal.vm.Continuation$Pinned.ordinal", SWITCH),
          Map.entry("jdk.internal.vm.Continuation$Pinned.values", SWITCH));

  /** Sources elsewhere that name what is hidden, and do not reach it themselves. */
  private static final Map<String, String> ONLY_NAMES =
      Map.of(
          "GroupedDump", "compares the class names of stack frames",
          "internal/WaitWords", "compares the class names of stack frames",
          "internal/sched/FiberCore", "calls pin() of RawContinuation, which inherits it");

  /** Rows whose member no constant names. */
  private static final Map<String, String> NO_NAMES =
      Map.of("java.lang.VirtualThread.carrierThread", "set by its offset, CARRIER_THREAD");

  @Test
  void thisJdkHasAllOfIt() {
    assertThat(JdkInternals.table()).allMatch(JdkInternals::exists);
  }

  @Test
  void everyHiddenMemberThatTheCodeNamesStandsInTheTable() throws IOException {
    Set<String> rows = new TreeSet<>();
    for (Row row : JdkInternals.table()) {
      rows.add(row.type());
      rows.add(row.type() + "." + row.member());
    }
    JdkNames names = JdkNames.below(CODE);
    assertThat(names.classes).hasSizeGreaterThan(25);
    assertThat(names.members).hasSizeGreaterThan(100);
    names.classes.keySet().removeAll(rows);
    names.members.keySet().removeAll(rows);
    Set<String> unused = new TreeSet<>(NO_LOOK_UPS.keySet());
    unused.removeAll(names.members.keySet());
    assertThat(unused).as("exceptions that nothing needs").isEmpty();
    names.members.keySet().removeAll(NO_LOOK_UPS.keySet());
    assertThat(names.classes).isEmpty();
    assertThat(names.members).isEmpty();
  }

  @Test
  void everyRowOfTheTableIsUsed() throws IOException {
    JdkNames names = JdkNames.below(CODE);
    Set<String> unused = new TreeSet<>();
    for (Row row : JdkInternals.table()) {
      String name = row.type() + (row.member().isEmpty() ? "" : "." + row.member());
      if (row.how() != How.COPIES
          && !row.type().equals(JdkInternals.JNI)
          && !NO_NAMES.containsKey(name)
          && !(row.member().equals("<init>") && names.classes.containsKey(row.type()))
          && !names.classes.containsKey(name)
          && !names.members.containsKey(name)) {
        unused.add(name);
      }
    }
    assertThat(unused).isEmpty();
  }

  @Test
  void onlyThreePackagesReachIntoTheJdk() throws IOException {
    JdkNames names = JdkNames.below(CODE);
    Set<String> sources = new TreeSet<>();
    names.members.values().forEach(sources::addAll);
    names.classes.values().forEach(sources::addAll);
    sources.addAll(names.lookingUp);
    assertThat(sources).hasSizeGreaterThan(15).containsAll(ONLY_NAMES.keySet());
    sources.removeAll(ONLY_NAMES.keySet());
    assertThat(sources).allMatch(s -> s.matches("internal/(switching|hook|jdk)/\\w+"));
  }

  @Test
  void thePageIsTheTable() throws IOException {
    StringBuilder table = new StringBuilder();
    for (JdkInternals.Part part : JdkInternals.Part.values()) {
      table
          .append("\n## ")
          .append(part.name().charAt(0))
          .append(part.name().substring(1).toLowerCase(Locale.ROOT))
          .append("\n\nWithout it: ")
          .append(part.without())
          .append(".\n\nChecked ")
          .append(part.check())
          .append(".\n\n| how | class | member | use |\n|---|---|---|---|\n");
      for (Row row : JdkInternals.table()) {
        if (row.part() == part) {
          table.append(
              "| %s | `%s` | %s | %s |\n"
                  .formatted(
                      row.how().name().toLowerCase(Locale.ROOT),
                      row.type(),
                      row.member().isEmpty() ? "" : "`" + row.member() + "`",
                      row.why()));
        }
      }
    }
    String page = Files.readString(PAGE);
    String begin = "<!-- table -->\n";
    int from = page.indexOf(begin) + begin.length();
    assertThat(from).isGreaterThan(begin.length());
    String written = page.substring(0, from) + table;
    if (Boolean.getBoolean("weft.docs.write")) {
      Files.writeString(PAGE, written);
    }
    assertThat(Files.readString(PAGE))
        .as("%s; ./weft test JdkInternalsTest -- -Dweft.docs.write=true", PAGE)
        .isEqualTo(written);
  }
}
