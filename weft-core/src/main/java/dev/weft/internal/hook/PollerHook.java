package dev.weft.internal.hook;

import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_void;

import dev.weft.internal.jdk.ClassInJdk;
import dev.weft.internal.jdk.PrivateField;
import dev.weft.internal.jdk.UnsupportedJdk;
import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;

/**
 * Puts Weft in front of the JDK's pollers ({@code sun.nio.ch.Poller}). Every blocking call of a
 * socket or channel in a virtual thread calls {@code Poller.implRegister(fd)} before it parks, and
 * {@code implDeregister} when it goes on, both on its own thread.
 *
 * <pre>
 *   Poller.POLLERS.readPollers   [ original ]  becomes  [ WeftPoller ─► original ]
 *   Poller.POLLERS.writePollers  [ original ]           [ WeftPoller ─► original ]
 * </pre>
 *
 * <p>{@code Poller}'s methods are package-private, so the class in front is defined in its package:
 *
 * <pre>
 *   final class WeftPoller extends Poller {
 *     void implRegister(int fd) {
 *       if (!registers.test(fd)) original.implRegister(fd);
 *     }
 *     void implDeregister(int fd, boolean polled) {
 *       if (!deregisters.test(fd)) original.implDeregister(fd, polled);
 *     }
 *     int poll(int timeout) { return 0; }   // the originals poll
 *   }
 * </pre>
 *
 * <p>Its {@linkplain WaitingThreads map of waiting threads} includes the original's map. So a close
 * of a descriptor finds every wait: also a wait that began before the exchange, and a wait that the
 * original serves.
 */
public final class PollerHook {
  private static final String POLLER = "sun.nio.ch.Poller";
  private static final ClassDesc SUPER = ClassDesc.of(POLLER);
  private static final ClassDesc SELF = ClassDesc.of("sun.nio.ch.WeftPoller");
  private static final ClassDesc PREDICATE = ClassDesc.of("java.util.function.IntPredicate");
  private static final MethodTypeDesc OF_INT = MethodTypeDesc.of(CD_void, CD_int);
  private static final MethodTypeDesc OF_INT_AND_BOOLEAN =
      MethodTypeDesc.of(CD_void, CD_int, CD_boolean);
  private static final MethodTypeDesc TEST = MethodTypeDesc.of(CD_boolean, CD_int);

  /**
   * The callbacks in front of the JDK's pollers of one direction.
   *
   * @param registers called by a thread that is about to wait for the descriptor; returns false to
   *     leave the wait to the JDK
   * @param deregisters called by that thread when it goes on; returns false if the wait was left to
   *     the JDK
   */
  public record Front(IntPredicate registers, IntPredicate deregisters) {}

  private PollerHook() {}

  /**
   * Replaces the pollers. To be called once.
   *
   * @throws UnsupportedJdk if the JDK's pollers are not as expected; then nothing has been changed
   */
  public static void install(Front reading, Front writing) throws UnsupportedJdk {
    try {
      Class<?> poller = Class.forName(POLLER);
      MethodHandles.Lookup inside = MethodHandles.privateLookupIn(poller, MethodHandles.lookup());
      Object pollers = PrivateField.of(poller, "POLLERS").get(null);
      Class<?> group = Class.forName(POLLER + "$Pollers");
      Object readers = PrivateField.of(group, "readPollers").get(pollers);
      Object writers = PrivateField.of(group, "writePollers").get(pollers);
      Field map = PrivateField.of(poller, "map");
      inside.findVirtual(poller, "implRegister", MethodType.methodType(void.class, int.class));
      inside.findVirtual(
          poller, "implDeregister", MethodType.methodType(void.class, int.class, boolean.class));
      inside.findVirtual(poller, "poll", MethodType.methodType(int.class, int.class));
      MethodHandle create =
          inside.findConstructor(
              inside.defineClass(weftPoller()),
              MethodType.methodType(void.class, poller, IntPredicate.class, IntPredicate.class));
      Object[] newReaders = fronts(readers, create, map, reading);
      Object[] newWriters = fronts(writers, create, map, writing);
      System.arraycopy(newReaders, 0, readers, 0, newReaders.length);
      System.arraycopy(newWriters, 0, writers, 0, newWriters.length);
    } catch (Throwable e) {
      throw new UnsupportedJdk(e);
    }
  }

  @SuppressWarnings("unchecked")
  private static Object[] fronts(Object originals, MethodHandle create, Field map, Front front)
      throws Throwable {
    Object[] fronts = new Object[Array.getLength(originals)];
    for (int i = 0; i < fronts.length; i++) {
      Object original = Array.get(originals, i);
      WaitingThreads waiting = new WaitingThreads((Map<Integer, Thread>) map.get(original));
      IntPredicate registers =
          fd -> {
            boolean served = front.registers.test(fd);
            if (!served) {
              waiting.leave(fd);
            }
            return served;
          };
      fronts[i] = create.invoke(original, registers, front.deregisters);
      map.set(fronts[i], waiting);
    }
    return fronts;
  }

  private static byte[] weftPoller() {
    return ClassInJdk.extending(
        SUPER,
        SELF,
        List.of(
            new ClassInJdk.Part("original", SUPER),
            new ClassInJdk.Part("registers", PREDICATE),
            new ClassInJdk.Part("deregisters", PREDICATE)),
        type -> {
          type.withMethodBody(
              "implRegister",
              OF_INT,
              0,
              code -> {
                unless(code, "registers");
                code.iload(1).invokevirtual(SUPER, "implRegister", OF_INT).return_();
              });
          type.withMethodBody(
              "implDeregister",
              OF_INT_AND_BOOLEAN,
              0,
              code -> {
                unless(code, "deregisters");
                code.iload(1)
                    .iload(2)
                    .invokevirtual(SUPER, "implDeregister", OF_INT_AND_BOOLEAN)
                    .return_();
              });
          type.withMethodBody(
              "poll", MethodTypeDesc.of(CD_int, CD_int), 0, code -> code.iconst_0().ireturn());
        });
  }

  /** Generates: return if the predicate is true for the descriptor; else push the original. */
  private static void unless(CodeBuilder code, String predicate) {
    code.aload(0)
        .getfield(SELF, predicate, PREDICATE)
        .iload(1)
        .invokeinterface(PREDICATE, "test", TEST)
        .ifThen(CodeBuilder::return_)
        .aload(0)
        .getfield(SELF, "original", SUPER);
  }
}
