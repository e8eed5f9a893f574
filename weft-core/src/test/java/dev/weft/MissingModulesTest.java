package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.channel.Channel;
import dev.weft.io.IoEvent;
import dev.weft.sync.Mutex;
import dev.weft.testkit.Feature;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import org.jctools.queues.MessagePassingQueue;
import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Weft without the optional modules of the JDK: in separate JVMs. */
@Feature("S22")
class MissingModulesTest {
  /** Uses every part of Weft, some parts in several ways. */
  static final class Program {
    public static void main(String[] args) throws Exception {
      System.out.println("modules " + ModuleLayer.boot().modules().size());
      Weft.run(Program::body);
      Scheduler scheduler =
          Scheduler.builder().threads(2).policy(Policy.workStealing()).build().start();
      CountDownLatch ran = new CountDownLatch(100);
      scheduler.go(
          () -> {
            for (int i = 0; i < 100; i++) {
              Weft.go(ran::countDown);
            }
          });
      ran.await();
      Fiber<Void> failing =
          scheduler.go(
              FiberOptions.named("failing"),
              () -> {
                throw new IOException("on purpose");
              });
      try {
        failing.join();
      } catch (CompletionException e) {
        System.out.println("failed " + e.getCause().getMessage());
      }
      scheduler.go(
          FiberOptions.named("unobserved"),
          () -> {
            throw new IOException("seen by nobody");
          });
      scheduler.stop();
      System.out.println("ended " + (scheduler.stats().ended() > 100));
    }

    private static void body() throws Exception {
      Fiber.sleep(Duration.ofMillis(1));
      Thread.sleep(1);
      Channel<Integer> channel = Channel.buffered(1);
      Weft.go(() -> channel.send(7));
      System.out.println("received " + channel.receive());
      Mutex mutex = new Mutex();
      System.out.println("locked " + mutex.tryLock());
      System.out.println("blocking " + Weft.blocking(() -> 8));
      System.out.println("resolved " + InetAddress.getByName("localhost").isLoopbackAddress());
      Coroutine coroutine = Coroutine.of(() -> Coroutine.yield());
      coroutine.resume();
      coroutine.resume();
      socket();
      pipe();
      Scheduler here = Fiber.current().orElseThrow().scheduler();
      System.out.println("dumped " + here.dump().toString().contains("MissingModulesTest"));
    }

    private static void socket() throws IOException {
      try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
        Fiber<Integer> reading =
            Weft.go(
                () -> {
                  try (Socket peer = server.accept()) {
                    return peer.getInputStream().read();
                  }
                });
        try (Socket client = new Socket(server.getInetAddress(), server.getLocalPort())) {
          client.getOutputStream().write(9);
          System.out.println("read " + reading.join());
        } catch (InterruptedException e) {
          throw new IOException(e);
        }
      }
    }

    private static void pipe() throws Exception {
      Pipe pipe = Pipe.open();
      pipe.source().configureBlocking(false);
      Weft.go(() -> pipe.sink().write(ByteBuffer.allocate(1)));
      Fiber.current()
          .orElseThrow()
          .scheduler()
          .io()
          .await(pipe.source(), IoEvent.READ, Duration.ofSeconds(10));
      System.out.println("polled");
    }
  }

  private static ForkedJvm.Result run(List<String> flags, String... firstOnClassPath)
      throws Exception {
    List<String> arguments = new ArrayList<>(flags);
    arguments.add(ForkedJvm.weftArgs());
    arguments.add("-cp");
    List<String> path = new ArrayList<>(List.of(firstOnClassPath));
    path.add(
        ForkedJvm.classPathOf(
            Weft.class,
            Program.class,
            MessagePassingQueue.class,
            MpscUnboundedVarHandleArrayQueue.class));
    arguments.add(String.join(java.io.File.pathSeparator, path));
    arguments.add(Program.class.getName());
    return ForkedJvm.java(arguments.toArray(String[]::new));
  }

  static void assertAllWorked(ForkedJvm.Result result) {
    assertThat(result.exitStatus()).as(result.output()).isZero();
    assertThat(result.output())
        .contains(
            "received 7",
            "locked true",
            "blocking 8",
            "resolved true",
            "read 9",
            "polled",
            "dumped true",
            "failed on purpose",
            "seen by nobody",
            "ended true")
        .doesNotContain("NoClassDefFound", "goes on after a failure", "fault of Weft");
  }

  @Test
  void withOnlyJavaBaseEverythingButTheFlightRecorderWorks() throws Exception {
    ForkedJvm.Result result = run(List.of("--limit-modules=java.base"));
    assertThat(result.output()).contains("modules 1\n").doesNotContain("Flight Recorder");
    assertAllWorked(result);
  }

  @Test
  void anEventThatFailsDisablesTheEventsAndLosesNoFiber(@TempDir Path broken) throws Exception {
    for (String event : List.of("FiberSlice", "FiberStart", "FiberEnd", "Blocking", "FiberWait")) {
      Path file = broken.resolve("dev/weft/internal/events/FlightEvents$" + event + ".class");
      Files.createDirectories(file.getParent());
      Files.write(file, new byte[] {1, 2, 3}); // no valid class: an error at its first use
    }
    ForkedJvm.Result result =
        run(
            List.of("-XX:StartFlightRecording:filename=" + broken.resolve("x.jfr")),
            broken.toString());
    assertAllWorked(result);
    assertThat(result.output()).containsOnlyOnce("Weft's events are off");
  }
}
