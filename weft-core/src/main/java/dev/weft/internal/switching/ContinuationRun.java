package dev.weft.internal.switching;

import static java.lang.constant.ConstantDescs.CD_void;
import static java.lang.invoke.MethodType.methodType;

import dev.weft.internal.Unchecked;
import dev.weft.internal.jdk.Inside;
import dev.weft.internal.jdk.UnsupportedJdk;
import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.util.Set;
import jdk.internal.vm.Continuation;
import org.jspecify.annotations.Nullable;

/**
 * {@code jdk.internal.vm.Continuation.run} without its two fences: a copy of the JDK's bytecode
 * without the calls of {@code mount()} and {@code unmount()}, which set the flag {@code mounted} by
 * volatile writes. The flag keeps two threads from running one continuation at a time; the state of
 * the virtual thread or coroutine guarantees that already.
 *
 * <p>The bytecode is read from the running JDK and defined as a hidden nestmate of {@code
 * Continuation}.
 */
final class ContinuationRun {
  private static final ClassDesc SELF = ClassDesc.of("jdk.internal.vm.WeftContinuation");
  private static final ClassDesc CONTINUATION = ClassDesc.of("jdk.internal.vm.Continuation");
  private static final Set<String> LEFT_OUT = Set.of("mount", "unmount");

  /** Runs a {@code Continuation}: the copy, or the JDK's own method if that is not as expected. */
  static final MethodHandle RUN;

  private static final @Nullable Throwable UNSUPPORTED;

  static {
    MethodHandle run;
    Throwable unsupported = null;
    try {
      run = MethodHandles.lookup().findVirtual(Continuation.class, "run", methodType(void.class));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(
          "this JDK (" + Runtime.version() + ") has other continuations: use JDK 25", e);
    }
    if (Inside.SWITCHES) {
      try {
        Inside.checkTested();
        run = define();
      } catch (UnsupportedJdk | ReflectiveOperationException | RuntimeException | LinkageError e) {
        unsupported = e;
      }
    }
    RUN = run;
    UNSUPPORTED = unsupported;
  }

  private ContinuationRun() {}

  /**
   * Throws if the JDK's own method is used.
   *
   * @throws UnsupportedJdk if that method is not as expected
   */
  static void check() throws UnsupportedJdk {
    if (UNSUPPORTED != null) {
      throw UNSUPPORTED instanceof UnsupportedJdk known ? known : new UnsupportedJdk(UNSUPPORTED);
    }
  }

  /**
   * Runs a continuation until it ends or yields; the caller guarantees that no other thread does.
   */
  static void run(Continuation continuation) {
    try {
      RUN.invokeExact(continuation);
    } catch (Throwable e) {
      throw Unchecked.rethrow(e);
    }
  }

  private static MethodHandle define() throws ReflectiveOperationException {
    CodeModel original = codeOfRun();
    if (original.elementStream().filter(ContinuationRun::isLeftOut).count() < LEFT_OUT.size()) {
      throw new NoSuchMethodException("Continuation.run does not call mount() and unmount()");
    }
    return Inside.defineBeside(
        Continuation.class,
        SELF,
        MethodTypeDesc.of(CD_void, CONTINUATION), // a static method: the parameter replaces this
        null,
        method -> method.transformCode(original, ContinuationRun::copy));
  }

  private static void copy(CodeBuilder code, CodeElement element) {
    if (isLeftOut(element)) {
      code.pop();
    } else {
      code.with(element);
    }
  }

  private static boolean isLeftOut(CodeElement element) {
    return element instanceof InvokeInstruction call
        && LEFT_OUT.contains(call.name().stringValue());
  }

  private static CodeModel codeOfRun() throws ReflectiveOperationException {
    try (InputStream in = Continuation.class.getResourceAsStream("Continuation.class")) {
      return ClassFile.of(ClassFile.DebugElementsOption.DROP_DEBUG)
          .parse(in.readAllBytes())
          .methods()
          .stream()
          .filter(method -> method.methodName().equalsString("run"))
          .findFirst()
          .flatMap(method -> method.code())
          .orElseThrow(() -> new NoSuchMethodException("Continuation.run"));
    } catch (IOException e) {
      throw new NoSuchMethodException("Continuation.class cannot be read: " + e);
    }
  }
}
