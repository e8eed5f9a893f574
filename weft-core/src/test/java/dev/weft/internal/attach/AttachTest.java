package dev.weft.internal.attach;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.weft.Fiber;
import dev.weft.FiberOptions;
import dev.weft.Json;
import dev.weft.LogCapture;
import dev.weft.Scheduler;
import dev.weft.channel.Channel;
import dev.weft.channel.ChannelClosedException;
import dev.weft.internal.switching.MonitorOwners;
import dev.weft.testkit.Feature;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The answering side of {@code ./weft dump}, asked by the socket of this very process. */
@Feature("O1")
@Timeout(60)
class AttachTest {
  private static final Path FOLDER = Path.of("/tmp/.weft_pid" + ProcessHandle.current().pid());

  private final AtomicBoolean over = new AtomicBoolean();
  private Scheduler scheduler;

  @BeforeEach
  void start() {
    scheduler = Scheduler.builder().threads(1).name("attached").build().start();
    eventually("no test before is still served", () -> !Files.exists(FOLDER));
  }

  @AfterEach
  void stop() {
    over.set(true);
    scheduler.stop(Duration.ofSeconds(5));
  }

  /** The other process. */
  private static final class Client implements AutoCloseable {
    private SocketChannel channel;
    private final DataInputStream in;
    private int end;

    Client() throws IOException {
      if (!Files.exists(FOLDER)) {
        makeFolder("rwx------");
      }
      eventually("the process answers", () -> (channel = connectOrNull()) != null);
      in = new DataInputStream(Channels.newInputStream(channel));
      assertThat(new String(in.readNBytes(7), StandardCharsets.UTF_8)).isEqualTo("weft 1\n");
    }

    private static SocketChannel connectOrNull() {
      try {
        return SocketChannel.open(UnixDomainSocketAddress.of(FOLDER.resolve("socket")));
      } catch (IOException e) {
        return null; // the socket is not there, or does not listen yet
      }
    }

    String ask(String request) throws IOException {
      channel.write(ByteBuffer.wrap((request + "\n").getBytes(StandardCharsets.UTF_8)));
      ByteArrayOutputStream answer = new ByteArrayOutputStream();
      for (end = in.readInt(); end > 0; end = in.readInt()) {
        answer.write(in.readNBytes(end));
      }
      return answer.toString(StandardCharsets.UTF_8);
    }

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }

  private static void makeFolder(String permissions) throws IOException {
    Files.createDirectory(
        FOLDER, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions)));
  }

  @Test
  void aDumpIsGroupedFullOrJson() throws Exception {
    Channel<Integer> channel = Channel.rendezvous();
    for (int i = 0; i < 10; i++) {
      waits(scheduler.go(FiberOptions.named("receiver"), () -> receive(channel)));
    }
    try (Client client = new Client()) {
      assertThat(client.ask("dump"))
          .contains("scheduler attached: 10 fibers on 1 thread: ")
          .contains("10 fibers wait for a value from channel ");
      assertThat(client.end).isZero();
      assertThat((List<?>) Json.parse(client.ask("dump --json").strip())).isNotEmpty();
      assertThat(client.ask("dump --full").lines())
          .filteredOn(line -> line.contains("(receiver) WAITING on thread 0"))
          .hasSize(10);
      assertThat((List<?>) Json.parse(client.ask("dump --full --json").strip())).isNotEmpty();
    }
    channel.close();
  }

  /** Waits until the channel is closed. */
  private static void receive(Channel<Integer> from) throws InterruptedException {
    try {
      from.receive();
    } catch (ChannelClosedException e) {
      // the end of the test
    }
  }

  @Test
  void aSingleFiberIsShownWithItsStack() throws Exception {
    Fiber<Void> fiber = scheduler.go(FiberOptions.named("one"), () -> Fiber.suspend());
    waits(fiber);
    try (Client client = new Client()) {
      assertThat(client.ask("fiber " + fiber.id()).lines().toList())
          .first()
          .asString()
          .startsWith("fiber " + fiber.id() + " (one) WAITING on thread 0, waits for schedule");
      assertThat(client.ask("fiber " + Long.MAX_VALUE))
          .isEqualTo("there is no fiber " + Long.MAX_VALUE + " any more");
      assertThat(client.end).isEqualTo(-1);
      assertThat(client.ask("fiber " + fiber.id())).as("the connection goes on").contains("one");
    }
    scheduler.schedule(fiber);
  }

  @Test
  void aRequestThatIsNotKnownIsRefused() throws Exception {
    try (Client client = new Client()) {
      assertThat(client.ask("shutdown now"))
          .isEqualTo("the process does not know the request 'shutdown now'");
      assertThat(client.end).isEqualTo(-1);
      assertThat(client.ask("top sideways 3")).contains("order must be cpu, wait, new or old");
    }
  }

  @Test
  void theFiguresOfAScreenTellWhichFiberUsesTheThread() throws Exception {
    Fiber<Void> busy = scheduler.go(FiberOptions.named("busy\tbody"), () -> spinUntil(over));
    Fiber<Void> idle = scheduler.go(FiberOptions.named("idle"), () -> Fiber.suspend());
    try (Client client = new Client()) {
      client.ask("top cpu 10"); // starts the sampling
      eventually(
          "the fiber is seen to run",
          () -> {
            List<String[]> lines = figures(client, "top cpu 10");
            String[] first =
                lines.stream().filter(fields -> fields[0].equals("fiber")).findFirst().get();
            return first[1].equals("" + busy.id()) && !first[5].equals("0");
          });
      List<String[]> lines = figures(client, "top old 1");
      assertThat(lines).filteredOn(fields -> fields[0].equals("fiber")).hasSize(1);
      assertThat(lines)
          .filteredOn(fields -> fields[0].equals("scheduler") && fields[1].equals("attached"))
          .singleElement()
          .satisfies(fields -> assertThat(fields).hasSize(13))
          .satisfies(fields -> assertThat(fields[3]).as("running").isEqualTo("1"));
      assertThat(lines)
          .filteredOn(fields -> fields[0].equals("worker"))
          .anyMatch(fields -> fields.length == 9 && fields[8].equals("" + busy.id()));
    }
    scheduler.schedule(idle);
  }

  /** Rows are kept for a hundred times as long as the walk took that found them. */
  @Test
  void noFiberHasRunInMoreSamplesThanThereWere() throws Exception {
    scheduler.go(FiberOptions.named("busy"), () -> spinUntil(over));
    try (Client client = new Client()) {
      client.ask("top cpu 10"); // starts the sampling
      for (int i = 0; i < 100; i++) {
        eventually(
            "the fiber is seen to run",
            () -> samplesOfFirstFiber(figures(client, "top cpu 10")) > 0);
      }
    }
  }

  private static int samplesOfFirstFiber(List<String[]> lines) {
    int samples = Integer.parseInt(lines.getFirst()[5]);
    return lines.stream()
        .filter(fields -> fields[0].equals("fiber"))
        .mapToInt(fields -> Integer.parseInt(fields[5]))
        .peek(ran -> assertThat(ran).as("of %d samples", samples).isLessThanOrEqualTo(samples))
        .findFirst()
        .orElse(0);
  }

  @Test
  @Feature("S28")
  void theFiguresCountTheFibersThatAreSetApart() throws Exception {
    try (Scheduler two = Scheduler.builder().threads(2).name("computes").build().start();
        Client client = new Client()) {
      two.go(FiberOptions.named("long slices"), () -> haveLongSlicesUntil(over));
      eventually("one fiber is set apart", () -> apartIn(client).equals("1"));
      over.set(true);
      eventually("none is", () -> apartIn(client).equals("0"));
    }
  }

  private static void haveLongSlicesUntil(AtomicBoolean over) {
    while (!over.get()) {
      long end = System.nanoTime() + 25_000_000;
      while (System.nanoTime() < end) {
        Thread.onSpinWait();
      }
      Fiber.yield();
    }
  }

  /** How many fibers of the scheduler are set apart. */
  private static String apartIn(Client client) {
    return figures(client, "top cpu 1").stream()
        .filter(fields -> fields[0].equals("scheduler") && fields[1].equals("computes"))
        .map(fields -> fields[11])
        .findFirst()
        .orElse("");
  }

  @Test
  void schedulersOfOneNameAreToldApart() throws Exception {
    try (Scheduler second = Scheduler.builder().threads(1).name("attached").build().start();
        Client client = new Client()) {
      waits(second.go(() -> Fiber.suspend()));
      List<String[]> lines = attached(client);
      assertThat(lines).hasSize(2);
      assertThat(lines.get(0)[12]).isNotEqualTo(lines.get(1)[12]);
      assertThat(lines.get(1)[5]).as("fibers that wait in the younger one").isEqualTo("1");
      assertThat(attached(client).get(1)[12]).isEqualTo(lines.get(1)[12]);
      second.stop(Duration.ZERO);
    }
  }

  private static List<String[]> attached(Client client) {
    return figures(client, "top cpu 0").stream()
        .filter(fields -> fields[0].equals("scheduler") && fields[1].equals("attached"))
        .toList();
  }

  @Test
  void sleepersAreNoWaits() throws Exception {
    Fiber<Void> sleeper = scheduler.go(() -> Fiber.sleep(Duration.ofHours(1)));
    waits(sleeper);
    Fiber<Void> waiter = scheduler.go(() -> Fiber.suspend());
    waits(waiter);
    try (Client client = new Client()) {
      assertThat(figures(client, "top wait 10"))
          .filteredOn(fields -> fields[0].equals("fiber"))
          .extracting(fields -> fields[1])
          .containsExactly("" + waiter.id(), "" + sleeper.id());
    }
    scheduler.schedule(waiter);
    sleeper.cancel();
  }

  /** A search for the owner of a monitor takes a snapshot of every fiber. */
  @Test
  void rowsAtAMonitorNameItWithoutASearchForItsOwner() throws Exception {
    Object monitor = new Object();
    Channel<Integer> never = Channel.rendezvous();
    waits(scheduler.go(FiberOptions.named("holder"), () -> receiveIn(monitor, never)));
    for (int i = 0; i < 50; i++) {
      scheduler.go(FiberOptions.named("blocked"), () -> receiveIn(monitor, never));
    }
    for (int i = 0; i < 20_000; i++) {
      scheduler.go(() -> never.receiveOrClosed());
    }
    eventually("they wait", () -> scheduler.stats().waiting() == 20_051);
    Fiber<Void> sleeper = scheduler.go(() -> Fiber.sleep(Duration.ofHours(1))); // no standstill
    try (Client client = new Client()) {
      long before = MonitorOwners.snapshots();
      List<String[]> rows =
          figures(client, "top old 60").stream()
              .filter(fields -> fields[0].equals("fiber") && fields[2].equals("blocked"))
              .toList();
      assertThat(MonitorOwners.snapshots() - before)
          .as("snapshots, those of the search for deadlocks too")
          .isLessThan(5_000);
      assertThat(rows)
          .hasSize(50)
          .allSatisfy(
              fields -> assertThat(fields[7]).startsWith("the monitor of java.lang.Object@"));
      assertThat(client.ask("fiber " + rows.getFirst()[1])).contains("held by fiber ", "(holder)");
    }
    sleeper.cancel();
    never.close();
  }

  private static void receiveIn(Object monitor, Channel<Integer> never) throws Exception {
    synchronized (monitor) {
      never.receiveOrClosed();
    }
  }

  private static List<String[]> figures(Client client, String request) {
    try {
      return client.ask(request).lines().map(line -> line.split("\t", -1)).toList();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static void spinUntil(AtomicBoolean over) {
    while (!over.get()) {
      Thread.onSpinWait();
    }
  }

  @Test
  void theProcessAnswersWhileAllThreadsAreHeld() throws Exception {
    scheduler.go(FiberOptions.named("hog"), () -> spinUntil(over));
    try (Client client = new Client()) {
      eventually(
          "the hog is named",
          () -> {
            try {
              return client.ask("dump").contains("(hog) has run on thread 0 for ");
            } catch (IOException e) {
              throw new AssertionError(e);
            }
          });
    }
  }

  @Test
  void leaksAreFound() throws Exception {
    scheduler.go(FiberOptions.named("leaked"), () -> Channel.rendezvous().receive());
    eventually("it waits", () -> scheduler.stats().waiting() == 1);
    try (Client client = new Client()) {
      assertThat(client.ask("leaks"))
          .contains("scheduler attached: 1 leaked fiber: nothing alive can reach what it waits for")
          .contains("(leaked) WAITING");
      assertThat((List<?>) Json.parse(client.ask("leaks --json").strip())).hasSize(1);
    }
    scheduler.stop(Duration.ZERO);
  }

  @Test
  void nothingIsLeftWhenTheOtherProcessHasGone() throws Exception {
    try (Client client = new Client();
        Client second = new Client()) {
      client.ask("dump");
      second.ask("dump");
    }
    eventually("socket and folder are gone", () -> !Files.exists(FOLDER));
    eventually(
        "no thread is left",
        () ->
            Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().startsWith("weft-attach")));
  }

  @Test
  void aLinkInPlaceOfTheFolderIsNotFollowed() throws Exception {
    Path target = Files.createTempDirectory("weft-attach-test-"); // with rwx------
    Files.createSymbolicLink(FOLDER, target);
    try {
      AttachFolder folder = AttachFolder.ofThisProcess();
      assertThat(folder.isThere()).isFalse();
      assertThatIOException().isThrownBy(folder::check).withMessageContaining("is no folder");
      assertThat(target).isEmptyDirectory();
    } finally {
      Files.delete(FOLDER);
      Files.delete(target);
    }
  }

  /** Any allocation may fail in a process that is short of memory; there is memory again later. */
  @Test
  void aCheckWithoutMemoryEndsNothing() throws Exception {
    AtomicBoolean checked = new AtomicBoolean();
    AttachFolder folder =
        new AttachFolder(FOLDER) {
          @Override
          boolean isThere() {
            return true;
          }

          @Override
          void check() {
            checked.set(true);
            throw new OutOfMemoryError("of this test");
          }
        };
    eventually(
        "the folder is checked",
        () -> {
          Attach.look(folder);
          return checked.get();
        });
    try (Client client = new Client()) {
      assertThat(client.ask("dump")).as("the next request is served").contains("attached");
    }
  }

  @Test
  void aRequestThatIsTooLongEndsTheConnection() throws Exception {
    try (Client client = new Client()) {
      client.channel.write(ByteBuffer.wrap("x".repeat(5_000).getBytes(StandardCharsets.UTF_8)));
      assertThat(client.in.read()).as("the end").isEqualTo(-1);
    }
  }

  @Test
  void aFolderThatOthersMayEnterIsRefused() throws Exception {
    assertRefused(() -> makeFolder("rwxr-xr-x"), "has the permissions rwxr-xr-x, not rwx------");
  }

  @Test
  void aFolderOfAnotherUserIsRefused() throws Exception {
    assumeTrue(System.getProperty("user.name").equals("root"), "only root can give folders away");
    assertRefused(
        () -> {
          Path made = Files.createTempDirectory("weft-attach-test-"); // with rwx------
          UserPrincipal nobody =
              made.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("nobody");
          Files.setOwner(made, nobody);
          Files.move(made, FOLDER);
        },
        "belongs to another user, nobody");
  }

  private interface Making {
    void run() throws IOException;
  }

  private static void assertRefused(Making making, String why) throws Exception {
    try (LogCapture log = new LogCapture()) {
      making.run();
      eventually("it is refused", () -> !log.entries(why).isEmpty());
      assertThat(FOLDER.resolve("socket")).doesNotExist();
    } finally {
      Files.deleteIfExists(FOLDER);
    }
    try (Client client = new Client()) {
      assertThat(client.ask("dump")).as("the next request is served").contains("attached");
    }
  }
}
