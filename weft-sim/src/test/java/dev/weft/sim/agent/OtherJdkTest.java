package dev.weft.sim.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.testkit.Feature;
import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassElement;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.MethodModel;
import java.lang.classfile.instruction.ConstantInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A JDK with other internals is refused, and what differs is said; so are its selectors. */
class OtherJdkTest {
  private static byte[] virtualThread() throws IOException {
    try (InputStream in = ClassLoader.getSystemResourceAsStream("java/lang/VirtualThread.class")) {
      assertThat(in).isNotNull();
      return in.readAllBytes();
    }
  }

  /** Returns what is missing in a JDK with this one's VirtualThread, without a method of it. */
  private static JdkPatches patchesWithout(String method) throws IOException {
    ClassFile files = ClassFile.of();
    byte[] changed =
        files.transformClass(
            files.parse(virtualThread()),
            ClassTransform.dropping(element -> isMethod(element, method)));
    JdkPatches patches = new JdkPatches();
    patches.rewrite(files, "java/lang/VirtualThread", changed);
    return patches;
  }

  private static boolean isMethod(ClassElement element, String name) {
    return element instanceof MethodModel model && model.methodName().equalsString(name);
  }

  @Test
  @Feature("V2")
  void aMethodThatIsNotThereIsNamed() throws IOException {
    assertThat(patchesWithout("none").missing())
        .doesNotContain("VirtualThread.unblock", "VirtualThread.parkNanos")
        .contains("Thread.start()");
    assertThat(patchesWithout("unblock").missing())
        .contains("VirtualThread.unblock")
        .doesNotContain("VirtualThread.parkNanos");
  }

  @Test
  @Feature("V2")
  void theSimulationDoesNotRunThere() {
    Instrumentation withoutClasses =
        (Instrumentation)
            Proxy.newProxyInstance(
                OtherJdkTest.class.getClassLoader(),
                new Class<?>[] {Instrumentation.class},
                (proxy, method, arguments) ->
                    method.getReturnType() == Class[].class
                        ? new Class<?>[0]
                        : method.getReturnType() == boolean.class ? false : null);
    assertThatThrownBy(() -> new Rewriter(withoutClasses).rewriteJdk())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("cannot simulate on this JDK (" + Runtime.version() + ")")
        .hasMessageContaining("its internals differ from those of JDK 25: not found: ")
        .hasMessageContaining("Net.connect0, ")
        .hasMessageContaining("VirtualThread.unblock");
  }

  /** The selectors of macOS and Windows, whose classes this JDK does not have. */
  @ParameterizedTest
  @ValueSource(strings = {"KQueueSelectorImpl", "WEPollSelectorImpl"})
  @Feature("V5")
  void selectorsOfOtherSystemsAreRefused(String type) {
    ClassFile files = ClassFile.of();
    byte[] selector =
        files.build(
            ClassDesc.of("sun.nio.ch." + type),
            made ->
                made.withMethodBody(
                    ConstantDescs.INIT_NAME,
                    ConstantDescs.MTD_void,
                    0,
                    code ->
                        code.aload(0)
                            .invokespecial(
                                ConstantDescs.CD_Object,
                                ConstantDescs.INIT_NAME,
                                ConstantDescs.MTD_void)
                            .return_()));
    assertThat(JdkPatches.concerns("sun/nio/ch/" + type)).isTrue();
    byte[] rewritten = new JdkPatches().rewrite(files, "sun/nio/ch/" + type, selector);
    var elements = files.parse(rewritten).methods().getFirst().code().orElseThrow().elementList();
    assertThat(elements.getFirst())
        .isInstanceOfSatisfying(
            ConstantInstruction.class,
            what ->
                assertThat(what.constantValue()).isEqualTo("a Selector of this operating system"));
    assertThat(elements.get(1))
        .isInstanceOfSatisfying(
            InvokeInstruction.class,
            call -> assertThat(call.name().stringValue()).isEqualTo("refuse"));
  }
}
