package dev.weft.internal.hook;

import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;

import dev.weft.internal.jdk.Inside;
import dev.weft.internal.jdk.UnsupportedJdk;
import dev.weft.internal.switching.VirtualThreads;
import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandle;
import java.lang.reflect.Field;
import java.util.concurrent.ForkJoinPool;

/**
 * Puts Weft in the place of the JDK's scheduler of virtual threads: decision 0074. A thread that a
 * platform thread starts gets the executor that a static field of the JDK names.
 *
 * <pre>
 *   VirtualThread.DEFAULT_SCHEDULER   a ForkJoinPool   becomes   a {@link DefaultPool}
 * </pre>
 *
 * <p>The field is final, so only Unsafe can set it, and JIT-compiled code may contain its old
 * value: it has to be set before the program starts virtual threads. The threads of the JDK's
 * pollers must keep the original: they serve Weft too, and {@link JdkPollers} starts them first.
 */
final class ThreadHook {
  private static final ClassDesc VIRTUAL = ClassDesc.of("java.lang.VirtualThread");
  private static final ClassDesc UNSAFE = ClassDesc.of("jdk.internal.misc.Unsafe");
  private static final ClassDesc FIELD = ClassDesc.of("java.lang.reflect.Field");

  private ThreadHook() {}

  /**
   * Replaces the scheduler. To be called once, by a platform thread.
   *
   * @throws UnsupportedJdk if the JDK's virtual threads are not as expected, or if so many have
   *     been started that the JIT compiler has compiled their constructor; then nothing has been
   *     changed
   */
  static void install() throws UnsupportedJdk {
    try {
      Class<?> type = Class.forName("java.lang.VirtualThread");
      ForkJoinPool original =
          (ForkJoinPool)
              Inside.of(type)
                  .findStaticVarHandle(type, "DEFAULT_SCHEDULER", ForkJoinPool.class)
                  .get();
      Field field = type.getDeclaredField("DEFAULT_SCHEDULER");
      MethodHandle set =
          Inside.defineBeside(
              type,
              ClassDesc.of("java.lang.WeftScheduler"),
              MethodTypeDesc.of(CD_void, FIELD, CD_Object),
              null,
              method -> method.withCode(ThreadHook::set));
      DefaultPool pool = new DefaultPool(original);
      set.invokeExact(field, (Object) pool);
      if (VirtualThreads.executorOf(Thread.ofVirtual().unstarted(() -> {})) != pool) {
        set.invokeExact(field, (Object) original);
        throw new UnsupportedJdk(
            "the program had started virtual threads before it used Weft, and their constructor"
                + " has been compiled; use Weft first, or start with ./weft run");
      }
    } catch (UnsupportedJdk e) {
      throw e;
    } catch (Throwable e) { // a member that is missing is an Error, at the first call of set
      throw new UnsupportedJdk(e);
    }
  }

  /**
   * The code of a static method of a nestmate of VirtualThread. Method handles would do, but each
   * takes milliseconds at the start. In Java it would be
   *
   * <pre>
   *   static void run(Field field, Object value) {
   *     U.putReferenceVolatile(U.staticFieldBase(field), U.staticFieldOffset(field), value);
   *   }
   * </pre>
   */
  private static void set(CodeBuilder code) {
    code.getstatic(VIRTUAL, "U", UNSAFE)
        .getstatic(VIRTUAL, "U", UNSAFE)
        .aload(0)
        .invokevirtual(UNSAFE, "staticFieldBase", MethodTypeDesc.of(CD_Object, FIELD))
        .getstatic(VIRTUAL, "U", UNSAFE)
        .aload(0)
        .invokevirtual(UNSAFE, "staticFieldOffset", MethodTypeDesc.of(CD_long, FIELD))
        .aload(1)
        .invokevirtual(
            UNSAFE,
            "putReferenceVolatile",
            MethodTypeDesc.of(CD_void, CD_Object, CD_long, CD_Object))
        .return_();
  }
}
