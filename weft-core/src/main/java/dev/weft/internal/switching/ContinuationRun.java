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
 * {@code Continuation.run} without its two fences: the JDK's own code, but that the flag is left
 * alone which says that a continuation is mounted. It keeps two from running the same one at a
 * time; Weft knows that before, by the state of a virtual thread or of a coroutine.
 *
 * <p>The code is copied, as this JDK has it, to a class of its own beside {@code Continuation},
 * hidden and as if it were a part of it.
 */
final class ContinuationRun {
  private static final ClassDesc SELF = ClassDesc.of("jdk.internal.vm.WeftContinuation");
  private static final ClassDesc CONTINUATION = ClassDesc.of("jdk.internal.vm.Continuation");
  private static final Set<String> LEFT_OUT = Set.of("mount", "unmount");

  /** Runs a {@code Continuation}: by the JDK's own method if that is not as expected. */
  static final MethodHandle RUN;

  private static final @Nullable Throwable MISFIT;

  static {
    MethodHandle run;
    Throwable misfit = null;
    try {
      run = MethodHandles.lookup().findVirtual(Continuation.class, "run", methodType(void.class));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(
          "this JDK (" + Runtime.version() + ") has other continuations: use JDK 25", e);
    }
    if (Inside.SWITCHES) {
      try {
        Inside.checkTested(Continuation.class);
        run = define();
      } catch (UnsupportedJdk | ReflectiveOperationException | RuntimeException | LinkageError e) {
        misfit = e;
      }
    }
    RUN = run;
    MISFIT = misfit;
  }

  private ContinuationRun() {}

  /**
   * Says why the JDK's own method is used, if it is.
   *
   * @throws UnsupportedJdk if it is not as expected
   */
  static void check() throws UnsupportedJdk {
    if (MISFIT != null) {
      throw MISFIT instanceof UnsupportedJdk known ? known : new UnsupportedJdk(MISFIT);
    }
  }

  /** Runs it until it ends or yields; the caller knows that nobody else does. */
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
      throw new NoSuchMethodException("Continuation.run mounts otherwise");
    }
    return Inside.defineBeside(
        Continuation.class,
        SELF,
        MethodTypeDesc.of(CD_void, CONTINUATION), // in the place of this
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
