package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.FieldModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.lang.classfile.instruction.FieldInstruction;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jctools.queues.MessagePassingQueue;
import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The hook by {@code -Dweft.hook}, and in a JDK with unknown internals: in separate JVMs. */
class HookMisfitTest {
  /** Prints the installed parts, and that sleeping and sockets work with or without them. */
  static final class Program {
    public static void main(String[] args) throws Exception {
      Scheduler scheduler = Scheduler.builder().threads(1).build().start();
      try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
        Fiber<Integer> fiber =
            scheduler.go(
                () -> {
                  Thread.sleep(5);
                  try (Socket peer = server.accept()) {
                    peer.setSoTimeout(10_000);
                    return peer.getInputStream().read();
                  }
                });
        try (Socket client = new Socket(server.getInetAddress(), server.getLocalPort())) {
          client.getOutputStream().write(7);
          System.out.println("read " + fiber.join());
        }
      }
      System.out.println("installed " + Hook.isInstalled());
      System.out.println("timers " + Hook.isInstalled(Hook.Family.TIMERS));
      System.out.println("sockets " + Hook.isInstalled(Hook.Family.SOCKETS));
      scheduler.stop();
    }
  }

  static ForkedJvm.Result run(String... flags) throws Exception {
    List<String> arguments = new ArrayList<>(List.of(flags));
    arguments.add(ForkedJvm.weftArgs());
    arguments.add("-cp");
    arguments.add(
        ForkedJvm.classPathOf(
            Hook.class,
            Program.class,
            MessagePassingQueue.class,
            MpscUnboundedVarHandleArrayQueue.class));
    arguments.add(Program.class.getName());
    return ForkedJvm.java(arguments.toArray(String[]::new));
  }

  /** Writes a copy of a JDK class with one field renamed. */
  static void renameField(Class<?> type, String field, Path patch) throws IOException {
    String name = "/" + type.getName().replace('.', '/') + ".class";
    ClassFile files = ClassFile.of();
    CodeTransform inCode =
        (code, element) -> {
          if (element instanceof FieldInstruction access
              && access.name().equalsString(field)
              && access.owner().asInternalName().equals(type.getName().replace('.', '/'))) {
            code.fieldAccess(
                access.opcode(), access.owner().asSymbol(), "renamed", access.typeSymbol());
          } else {
            code.with(element);
          }
        };
    byte[] changed;
    try (InputStream original = Object.class.getResourceAsStream(name)) {
      changed =
          files.transformClass(
              files.parse(original.readAllBytes()),
              (builder, element) -> {
                if (element instanceof FieldModel model && model.fieldName().equalsString(field)) {
                  builder.withField(
                      "renamed", model.fieldTypeSymbol(), copy -> model.forEach(copy::with));
                } else if (element instanceof MethodModel model) {
                  builder.transformMethod(model, MethodTransform.transformingCode(inCode));
                } else {
                  builder.with(element);
                }
              });
    }
    Path file = patch.resolve(name.substring(1));
    Files.createDirectories(file.getParent());
    Files.write(file, changed);
  }

  @Test
  @Feature("H9")
  void anUnsupportedPartIsLeftOutAndNamedOnce(@TempDir Path patch) throws Exception {
    renameField(Class.forName("sun.nio.ch.Poller"), "POLLERS", patch);
    ForkedJvm.Result result = run("--patch-module=java.base=" + patch);
    assertThat(result.exitStatus()).as(result.output()).isZero();
    assertThat(result.output())
        .containsOnlyOnce("the hook leaves out sockets")
        .contains("not as expected")
        .contains("POLLERS")
        .contains(Runtime.version().toString())
        .doesNotContain("leaves out timers")
        .contains("read 7")
        .contains("timers true")
        .contains("sockets false");
  }

  @ParameterizedTest
  @CsvSource({"sun.nio.ch.SocketChannelImpl,nd", "java.lang.Thread,nioBlocker"})
  @Feature("H9")
  void withoutTheDispatcherSocketsAreStillHooked(String type, String field, @TempDir Path patch)
      throws Exception {
    renameField(Class.forName(type), field, patch);
    ForkedJvm.Result result = run("--patch-module=java.base=" + patch);
    assertThat(result.exitStatus()).as(result.output()).isZero();
    assertThat(result.output())
        .containsOnlyOnce("the hook leaves out")
        .contains("the hook leaves out edge-triggered sockets")
        .contains(field)
        .contains("read 7")
        .contains("sockets true");
  }

  @Test
  @Feature("H9")
  void withoutTheDefaultSchedulerTheJdkRunsTheThreadsOfPlatformThreads(@TempDir Path patch)
      throws Exception {
    renameField(Class.forName("java.lang.VirtualThread"), "DEFAULT_SCHEDULER", patch);
    ForkedJvm.Result result =
        run("--patch-module=java.base=" + patch, "-Dweft.threads=all", "-Dweft.switch=jdk");
    assertThat(result.exitStatus()).as(result.output()).isZero();
    assertThat(result.output())
        .containsOnlyOnce("virtual threads that platform threads start run on the JDK's scheduler")
        .contains("it has no java.lang.VirtualThread.DEFAULT_SCHEDULER")
        .doesNotContain("the hook leaves out")
        .contains("read 7")
        .contains("timers true")
        .contains("sockets true");
  }

  @Test
  @Feature("H9")
  void noPartOfTheHookFits(@TempDir Path patch) throws Exception {
    renameField(Class.forName("sun.nio.ch.Poller"), "POLLERS", patch);
    renameField(Class.forName("java.lang.VirtualThread$DelayedTaskSchedulers"), "INSTANCE", patch);
    ForkedJvm.Result result = run("--patch-module=java.base=" + patch);
    assertThat(result.output())
        .containsOnlyOnce("the hook leaves out sockets")
        .containsOnlyOnce("the hook leaves out timers")
        .contains("read 7")
        .contains("installed false");
  }

  @Test
  @Feature("H9")
  void off() throws Exception {
    assertThat(run("-Dweft.hook=off").output().lines())
        .containsExactly("read 7", "installed false", "timers false", "sockets false");
  }

  @ParameterizedTest
  @CsvSource({"timers,1,0", "sockets,0,1", "'timers, Sockets',1,1"})
  @Feature("H6")
  void familiesAtTheStart(String value, int timers, int sockets) throws Exception {
    ForkedJvm.Result result = run("-Dweft.hook=" + value);
    assertThat(result.output()).contains("read 7").contains("installed true");
    // all families are installed, to be switched on later; the program below prints which are on
    assertThat(onIn(value)).isEqualTo(timers + " " + sockets);
  }

  /** Prints the families that are on at the start. */
  static final class Families {
    public static void main(String[] args) {
      System.out.println(
          (dev.weft.internal.HookFamilies.timers ? 1 : 0)
              + " "
              + (dev.weft.internal.HookFamilies.sockets ? 1 : 0));
    }
  }

  private static String onIn(String value) throws Exception {
    return ForkedJvm.java(
            "-Dweft.hook=" + value,
            "-cp",
            ForkedJvm.classPathOf(Hook.class, Families.class),
            Families.class.getName())
        .output()
        .strip();
  }

  @Test
  @Feature("H6")
  void aWrongNameIsRefused() throws Exception {
    ForkedJvm.Result result = run("-Dweft.hook=timer");
    assertThat(result.exitStatus()).isNotZero();
    assertThat(result.output())
        .contains("-Dweft.hook must be off or some of timers,sockets,names, not 'timer'");
  }
}
