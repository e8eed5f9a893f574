package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.spi.ToolProvider;
import org.jctools.queues.MessagePassingQueue;
import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;
import org.jspecify.annotations.NullMarked;

/** Weft as a module, and modules that require it. */
final class WeftModule {
  private WeftModule() {}

  /** Returns the module path that holds Weft and what it requires. */
  static String path() {
    return ForkedJvm.classPathOf(
        Coroutine.class,
        NullMarked.class,
        MessagePassingQueue.class,
        MpscUnboundedVarHandleArrayQueue.class);
  }

  /**
   * Compiles a module {@code app} with a class {@code app.Main}.
   *
   * @param main the body of its main method
   * @return the folder of its classes
   */
  static Path compileProgram(Path folder, String main) throws Exception {
    Path sources = Files.createDirectories(folder.resolve("src/app"));
    Path module =
        Files.writeString(
            folder.resolve("src/module-info.java"), "module app { requires dev.weft; }");
    Path source =
        Files.writeString(
            sources.resolve("Main.java"),
            """
            package app;
            public class Main {
              public static void main(String[] args) {
            %s
              }
            }
            """
                .formatted(main));
    Path classes = folder.resolve("classes");
    int status =
        ToolProvider.findFirst("javac")
            .orElseThrow()
            .run(
                System.out,
                System.err,
                "-p",
                path(),
                "-d",
                classes.toString(),
                module.toString(),
                source.toString());
    assertThat(status).isZero();
    return classes;
  }
}
