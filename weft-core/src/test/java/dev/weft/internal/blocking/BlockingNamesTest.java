package dev.weft.internal.blocking;

import static dev.weft.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.Fiber;
import dev.weft.ForkedJvm;
import dev.weft.Hook;
import dev.weft.Scheduler;
import dev.weft.Weft;
import dev.weft.internal.Uninterrupted;
import dev.weft.testkit.Feature;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.net.spi.InetAddressResolver;
import java.net.spi.InetAddressResolver.LookupPolicy;
import java.net.spi.InetAddressResolverProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jctools.queues.MessagePassingQueue;
import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Name look-up blocks no thread of a scheduler, and otherwise behaves as without Weft. */
@Feature("H7")
class BlockingNamesTest {
  private static final LookupPolicy ANY = LookupPolicy.of(LookupPolicy.IPV4 | LookupPolicy.IPV6);
  private static final byte[] TEN = {10, 0, 0, 1};

  private final Scheduler scheduler = Scheduler.builder().threads(1).build().start();
  private final SlowResolver slow = new SlowResolver();
  private final InetAddressResolver names = new BlockingNames.Resolver(slow);

  @AfterEach
  void stop() {
    Hook.set(Hook.Family.NAMES, true);
    slow.answer.countDown();
    scheduler.stop();
  }

  /** A slow resolver that knows one host; like the JDK's own it ignores interrupts. */
  private static final class SlowResolver implements InetAddressResolver {
    final CountDownLatch asked = new CountDownLatch(1);
    final CountDownLatch answer = new CountDownLatch(1);
    final AtomicReference<String> askedBy = new AtomicReference<>("");

    @Override
    public Stream<InetAddress> lookupByName(String host, LookupPolicy policy)
        throws UnknownHostException {
      takeTime();
      if (!host.equals("ten")) {
        throw new UnknownHostException(host);
      }
      return Stream.of(InetAddress.getByAddress(host, TEN));
    }

    @Override
    public String lookupByAddress(byte[] address) throws UnknownHostException {
      takeTime();
      if (address[0] != 10) {
        throw new UnknownHostException("not ten");
      }
      return "ten";
    }

    private void takeTime() {
      askedBy.set(Thread.currentThread().toString());
      asked.countDown();
      Uninterrupted.await(answer::await);
    }
  }

  @Test
  void theOtherFibersOfTheOnlyThreadGoOn() throws Exception {
    Fiber<List<InetAddress>> byName = scheduler.go(() -> names.lookupByName("ten", ANY).toList());
    Fiber<String> byAddress = scheduler.go(() -> names.lookupByAddress(TEN));
    slow.asked.await();
    eventually("both ask", () -> scheduler.stats().blocking() == 2);
    assertThat(slow.askedBy.get()).contains("@weft-blocking-");
    scheduler.go(slow.answer::countDown).join(Duration.ofSeconds(30));
    assertThat(byName.join()).containsExactly(InetAddress.getByAddress(TEN));
    assertThat(byAddress.join()).isEqualTo("ten");
  }

  @Test
  void unknownHostsFailAlikeWithAndWithoutTheHook() {
    slow.answer.countDown();
    for (boolean enabled : new boolean[] {true, false}) {
      Hook.set(Hook.Family.NAMES, enabled);
      Fiber<?> byName = scheduler.go(() -> names.lookupByName("eleven", ANY));
      assertThatExceptionOfType(CompletionException.class)
          .isThrownBy(byName::join)
          .havingCause()
          .isInstanceOf(UnknownHostException.class)
          .withMessage("eleven");
      Fiber<?> byAddress = scheduler.go(() -> names.lookupByAddress(new byte[] {11, 0, 0, 1}));
      assertThatExceptionOfType(CompletionException.class)
          .isThrownBy(byAddress::join)
          .havingCause()
          .isInstanceOf(UnknownHostException.class)
          .withMessage("not ten");
    }
  }

  @Test
  void outsideFibersAndWhenTurnedOffTheLookUpRunsOnTheCaller() throws Exception {
    slow.answer.countDown();
    assertThat(names.lookupByAddress(TEN)).isEqualTo("ten");
    assertThat(slow.askedBy.get()).isEqualTo(Thread.currentThread().toString());
    Thread.ofVirtual()
        .start(
            () -> {
              try {
                names.lookupByAddress(TEN);
              } catch (UnknownHostException e) {
                throw new IllegalStateException(e);
              }
            })
        .join();
    assertThat(slow.askedBy.get()).contains("@ForkJoinPool");
    Hook.set(Hook.Family.NAMES, false);
    assertThat(scheduler.go(() -> names.lookupByAddress(TEN)).join()).isEqualTo("ten");
    assertThat(slow.askedBy.get()).contains("@" + scheduler.name());
  }

  @Test
  void aCancelIsIgnoredAsTheJdkIgnoresInterrupts() throws Exception {
    AtomicReference<String> found = new AtomicReference<>("");
    Fiber<Boolean> fiber =
        scheduler.go(
            () -> {
              found.set(names.lookupByAddress(TEN));
              // the cancel takes effect at the next cancel point
              assertThatThrownBy(() -> Fiber.sleep(Duration.ofHours(1)))
                  .isInstanceOf(InterruptedException.class);
              found.set(found.get() + names.lookupByAddress(TEN)); // not a cancel point
              return true;
            });
    slow.asked.await();
    fiber.cancel();
    slow.answer.countDown();
    assertThatExceptionOfType(CancellationException.class).isThrownBy(fiber::join).withNoCause();
    assertThat(found).hasValue("tenten");
  }

  @Test
  void anInterruptAndADeadlineTakeEffectAfterTheLookUp() throws Exception {
    slow.answer.countDown();
    scheduler
        .go(
            () -> {
              Thread.currentThread().interrupt();
              assertThat(names.lookupByAddress(TEN)).isEqualTo("ten");
              assertThat(Thread.interrupted()).isTrue();
              assertThatExceptionOfType(TimeoutException.class)
                  .isThrownBy(
                      () ->
                          Weft.withTimeout(
                              Duration.ofNanos(1),
                              () -> {
                                while (!Thread.currentThread().isInterrupted()) {
                                  Thread.onSpinWait();
                                  Thread.yield();
                                }
                                assertThat(names.lookupByAddress(TEN)).isEqualTo("ten");
                                Fiber.sleep(Duration.ofHours(1));
                                return null;
                              }));
            })
        .join();
  }

  // ---- the JDK and the provider ----

  @Test
  void theJdkFindsTheProvider() throws Exception {
    assertThat(ServiceLoader.load(InetAddressResolverProvider.class).findFirst())
        .containsInstanceOf(BlockingNames.class);
    InetAddress found = scheduler.go(() -> InetAddress.getByName("localhost")).join();
    assertThat(found.isLoopbackAddress()).isTrue();
    assertThat(found).isEqualTo(InetAddress.getByName("localhost"));
  }

  /** Looks a name up in a fiber and prints whether a helper thread was made for it. */
  static final class InFiber {
    public static void main(String[] args) {
      Weft.run(() -> System.out.println(InetAddress.getByName("localhost").isLoopbackAddress()));
      System.out.println(
          "helpers: "
              + Thread.getAllStackTraces().keySet().stream()
                  .filter(thread -> thread.getName().startsWith("weft-blocking-"))
                  .count());
    }
  }

  private static ForkedJvm.Result inFiber(String... flags) throws Exception {
    return ForkedJvm.java(
        Stream.of(
                Stream.of(ForkedJvm.weftArgs()),
                Stream.of(flags),
                Stream.of("-cp", classPath(), InFiber.class.getName()))
            .flatMap(words -> words)
            .toArray(String[]::new));
  }

  private static String classPath() {
    return ForkedJvm.classPathOf(
        Weft.class,
        InFiber.class,
        NullMarked.class,
        MessagePassingQueue.class,
        MpscUnboundedVarHandleArrayQueue.class);
  }

  @Test
  @Feature("H6")
  void thePropertyTurnsTheProviderOnAndOff() throws Exception {
    assertThat(inFiber().output()).isEqualTo("true\nhelpers: 1\n");
    assertThat(inFiber("-Dweft.hook=timers,names").output()).isEqualTo("true\nhelpers: 1\n");
    assertThat(inFiber("-Dweft.hook=off").output()).isEqualTo("true\nhelpers: 0\n");
    assertThat(inFiber("-Dweft.hook=timers,sockets").output()).isEqualTo("true\nhelpers: 0\n");
  }

  /** A program that has Weft on its class path, but neither fibers nor Weft's flags. */
  static final class Plain {
    public static void main(String[] args) throws Exception {
      System.out.println(InetAddress.getByName("localhost").isLoopbackAddress());
      Thread.ofVirtual()
          .start(
              () -> {
                try {
                  InetAddress loopback = InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
                  System.out.println(!loopback.getCanonicalHostName().isEmpty());
                } catch (UnknownHostException e) {
                  throw new IllegalStateException(e);
                }
              })
          .join();
    }
  }

  @Test
  void programsWithoutFibersLoadLittleOfWeftAndNeedNoFlags() throws Exception {
    ForkedJvm.Result result =
        ForkedJvm.java("-Xlog:class+load:stdout", "-cp", classPath(), Plain.class.getName());
    assertThat(result.exitStatus()).isZero();
    assertThat(result.output().lines().filter(line -> line.equals("true"))).hasSize(2);
    assertThat(
            result
                .output()
                .lines()
                .filter(line -> line.contains(" dev.weft."))
                .map(line -> line.replaceFirst(".* (dev\\.weft\\.\\S+).*", "$1"))
                .filter(name -> !name.contains("BlockingNames")))
        .containsOnly("dev.weft.internal.Started");
  }

  /** A user's own provider. */
  public static final class Own extends InetAddressResolverProvider {
    @Override
    public InetAddressResolver get(Configuration configuration) {
      System.out.println("own");
      return configuration.builtinResolver();
    }

    @Override
    public String name() {
      return "own";
    }
  }

  /** The JDK uses only the first provider that it finds. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void ofTwoProvidersTheFirstOnTheClassPathIsUsed(boolean ownFirst, @TempDir Path dir)
      throws Exception {
    Path services = Files.createDirectories(dir.resolve("META-INF/services"));
    Files.writeString(
        services.resolve(InetAddressResolverProvider.class.getName()), Own.class.getName());
    String separator = System.getProperty("path.separator");
    ForkedJvm.Result result =
        ForkedJvm.java(
            ForkedJvm.weftArgs(),
            "-cp",
            ownFirst ? dir + separator + classPath() : classPath() + separator + dir,
            InFiber.class.getName());
    assertThat(result.output())
        .isEqualTo(ownFirst ? "own\ntrue\nhelpers: 0\n" : "true\nhelpers: 1\n");
  }
}
