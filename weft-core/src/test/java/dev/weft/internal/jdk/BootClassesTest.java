package dev.weft.internal.jdk;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.ForkedJvm;
import dev.weft.testkit.Feature;
import java.lang.classfile.ClassFile;
import java.lang.constant.ClassDesc;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Classes of the boot loader, and what becomes of those that the JVM refuses: in JVMs apart. */
@Feature("P1")
class BootClassesTest {
  /** Defines classes: good ones, broken ones and some a second time. */
  static final class Program {
    public static void main(String[] args) throws Exception {
      for (String name : args) {
        boolean isBroken = name.startsWith("Broken");
        Runnable definition =
            () ->
                define(
                    name,
                    isBroken ? new byte[] {1, 2, 3} : ClassFile.of().build(in(name), type -> {}));
        if (name.startsWith("Virtual")) {
          Thread.ofVirtual().start(definition).join();
        } else {
          definition.run();
        }
        System.gc(); // an exception that was left behind would come out here, or in the next line
        System.out.println(name + ": " + isLoaded(name));
      }
    }

    private static ClassDesc in(String name) {
      return ClassDesc.of("java.lang", name);
    }

    private static void define(String name, byte[] bytes) {
      try {
        BootClasses.define("java/lang/" + name, bytes);
      } catch (Throwable e) {
        System.out.println(e);
      }
    }

    private static boolean isLoaded(String name) {
      try {
        return Class.forName("java.lang." + name, true, null).getClassLoader() == null;
      } catch (ClassNotFoundException e) {
        return false;
      }
    }
  }

  private static String run(String option, String... names) throws Exception {
    ForkedJvm.Result result =
        ForkedJvm.java(
            Stream.concat(
                    Stream.of(
                        option,
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        ForkedJvm.classPathOf(BootClasses.class, Program.class),
                        Program.class.getName()),
                    Stream.of(names))
                .toArray(String[]::new));
    assertThat(result.exitStatus()).as(result.output()).isZero();
    return result.output();
  }

  @ParameterizedTest
  @ValueSource(strings = {"-Xcheck:jni", "-Xint"})
  void aRefusedClassIsAnErrorOfThisCall(String option) throws Exception {
    assertThat(run(option, "Good", "Good", "Better"))
        .matches(
            """
            Good: true
            java.lang.LinkageError: .*duplicate class definition for java.lang.Good.*
            Good: true
            Better: true
            """);
    assertThat(run(option, "Broken"))
        .isEqualTo("java.lang.ClassFormatError: Truncated class file\nBroken: false\n");
  }

  @Test
  void aVirtualThreadIsRefused() throws Exception {
    assertThat(run("-Xcheck:jni", "Virtual", "Good"))
        .isEqualTo(
            """
            java.lang.IllegalStateException: a virtual thread has no JNIEnv of its own
            Virtual: false
            Good: true
            """);
  }
}
