package dev.weft.internal.jdk;

import static java.lang.classfile.ClassFile.ACC_FINAL;
import static java.lang.classfile.ClassFile.ACC_PRIVATE;
import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;
import static java.lang.constant.ConstantDescs.INIT_NAME;

import java.io.FileDescriptor;
import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Opcode;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.function.IntFunction;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Lets Weft know what the JDK's stream sockets do with their descriptors. Each {@code Socket} and
 * {@code SocketChannel} reads and closes by the dispatcher of its class:
 *
 * <pre>
 *   NioSocketImpl.nd      SocketDispatcher  becomes  WeftDispatcher
 *   SocketChannelImpl.nd  SocketDispatcher           WeftDispatcher
 * </pre>
 *
 * <p>A dispatcher's methods are package-private, so the class is defined in its package:
 *
 * <pre>
 *   final class WeftDispatcher extends SocketDispatcher {
 *     int read(FileDescriptor fd, long address, int length) {
 *       int number = numbers.get(fd);
 *       if (emptySocket.apply(number) == fd) return UNAVAILABLE;   // without asking the kernel
 *       int got = super.read(fd, address, length);
 *       if (got &lt; length) emptied.accept(fd, number);
 *       return got;
 *     }
 *     void close(FileDescriptor fd) {
 *       closing.run();
 *       super.close(fd);
 *     }
 *   }
 * </pre>
 *
 * <p>The two fields are final, and compiled code takes such a field's value for granted. What was
 * compiled before the exchange keeps the JDK's own dispatcher: it asks the kernel each time, as
 * ever, and nobody is told.
 */
public final class DispatcherHook {
  private static final String PACKAGE = "sun.nio.ch.";
  private static final ClassDesc SUPER = ClassDesc.of(PACKAGE + "SocketDispatcher");
  private static final ClassDesc SELF = ClassDesc.of(PACKAGE + "WeftDispatcher");
  private static final ClassDesc DESCRIPTOR = ClassDesc.of("java.io.FileDescriptor");
  private static final ClassDesc NUMBERS =
      ClassDesc.of("jdk.internal.access.JavaIOFileDescriptorAccess");
  private static final ClassDesc SECRETS = ClassDesc.of("jdk.internal.access.SharedSecrets");
  private static final ClassDesc UNSAFE = ClassDesc.of("jdk.internal.misc.Unsafe");
  private static final ClassDesc FIELD = ClassDesc.of("java.lang.reflect.Field");
  private static final ClassDesc FUNCTION = ClassDesc.of("java.util.function.IntFunction");
  private static final ClassDesc CONSUMER = ClassDesc.of("java.util.function.ObjIntConsumer");
  private static final ClassDesc RUNNABLE = ClassDesc.of("java.lang.Runnable");
  private static final MethodTypeDesc NOTHING = MethodTypeDesc.of(CD_void);
  private static final MethodTypeDesc READ = MethodTypeDesc.of(CD_int, DESCRIPTOR, CD_long, CD_int);
  private static final MethodTypeDesc CLOSE = MethodTypeDesc.of(CD_void, DESCRIPTOR);
  private static final int UNAVAILABLE = -2; // sun.nio.ch.IOStatus

  /**
   * Who is asked and told, on the thread that reads or closes.
   *
   * @param emptySocket returns the descriptor of the socket with this number if it is known to have
   *     nothing to read; any other, or null, if it has to be tried
   * @param emptied told of each try that found less than it could have taken
   * @param closing told before a socket is closed
   */
  public record Listener(
      IntFunction<@Nullable Object> emptySocket,
      ObjIntConsumer<FileDescriptor> emptied,
      Runnable closing) {}

  private DispatcherHook() {}

  /**
   * Puts the dispatcher there. To be called once.
   *
   * @throws Misfit if the JDK's sockets are not as expected; then nothing has been changed
   */
  public static void install(Listener listener) throws Misfit {
    try {
      Class<?> original = Class.forName(PACKAGE + "SocketDispatcher");
      MethodHandles.Lookup inside = MethodHandles.privateLookupIn(original, MethodHandles.lookup());
      Field ofSockets = place("NioSocketImpl", original);
      Field ofChannels = place("SocketChannelImpl", original);
      MethodType read =
          MethodType.methodType(int.class, FileDescriptor.class, long.class, int.class);
      inside.findVirtual(original, "read", read);
      inside.findVirtual(
          original, "close", MethodType.methodType(void.class, FileDescriptor.class));
      int unavailable =
          PrivateField.of(Class.forName(PACKAGE + "IOStatus"), "UNAVAILABLE").getInt(null);
      if (unavailable != UNAVAILABLE) {
        throw new NoSuchFieldException("IOStatus.UNAVAILABLE is " + unavailable);
      }
      Class<?> type = inside.defineClass(weftDispatcher());
      Object dispatcher =
          inside
              .findConstructor(
                  type,
                  MethodType.methodType(
                      void.class, IntFunction.class, ObjIntConsumer.class, Runnable.class))
              .invoke(listener.emptySocket, listener.emptied, listener.closing);
      MethodHandle moveInto =
          inside.findVirtual(type, "moveInto", MethodType.methodType(void.class, Field.class));
      moveInto.invoke(dispatcher, ofSockets);
      moveInto.invoke(dispatcher, ofChannels);
    } catch (Throwable e) {
      throw new Misfit(e);
    }
  }

  private static Field place(String owner, Class<?> original) throws ReflectiveOperationException {
    Field place = PrivateField.of(Class.forName(PACKAGE + owner), "nd");
    if (!Modifier.isStatic(place.getModifiers()) || place.get(null).getClass() != original) {
      throw new NoSuchFieldException(owner + ".nd is not what it was");
    }
    return place;
  }

  private static byte[] weftDispatcher() {
    return ClassFile.of()
        .build(
            SELF,
            type -> {
              type.withSuperclass(SUPER).withFlags(ACC_FINAL);
              type.withField("numbers", NUMBERS, ACC_PRIVATE | ACC_FINAL);
              type.withField("emptySocket", FUNCTION, ACC_PRIVATE | ACC_FINAL);
              type.withField("emptied", CONSUMER, ACC_PRIVATE | ACC_FINAL);
              type.withField("closing", RUNNABLE, ACC_PRIVATE | ACC_FINAL);
              constructor(type);
              type.withMethodBody("read", READ, 0, DispatcherHook::read);
              type.withMethodBody(
                  "close",
                  CLOSE,
                  0,
                  code ->
                      code.aload(0)
                          .getfield(SELF, "closing", RUNNABLE)
                          .invokeinterface(RUNNABLE, "run", NOTHING)
                          .aload(0)
                          .aload(1)
                          .invokespecial(SUPER, "close", CLOSE)
                          .return_());
              moveInto(type);
            });
  }

  private static void constructor(ClassBuilder type) {
    type.withMethodBody(
        INIT_NAME,
        MethodTypeDesc.of(CD_void, FUNCTION, CONSUMER, RUNNABLE),
        0,
        code ->
            code.aload(0)
                .invokespecial(SUPER, INIT_NAME, NOTHING)
                .aload(0)
                .invokestatic(SECRETS, "getJavaIOFileDescriptorAccess", MethodTypeDesc.of(NUMBERS))
                .putfield(SELF, "numbers", NUMBERS)
                .aload(0)
                .aload(1)
                .putfield(SELF, "emptySocket", FUNCTION)
                .aload(0)
                .aload(2)
                .putfield(SELF, "emptied", CONSUMER)
                .aload(0)
                .aload(3)
                .putfield(SELF, "closing", RUNNABLE)
                .return_());
  }

  /** 1 is the descriptor, 2 and 3 the address, 4 the length, 5 the number, 6 what was got. */
  private static void read(CodeBuilder code) {
    code.aload(0)
        .getfield(SELF, "numbers", NUMBERS)
        .aload(1)
        .invokeinterface(NUMBERS, "get", MethodTypeDesc.of(CD_int, DESCRIPTOR))
        .istore(5)
        .aload(0)
        .getfield(SELF, "emptySocket", FUNCTION)
        .iload(5)
        .invokeinterface(FUNCTION, "apply", MethodTypeDesc.of(CD_Object, CD_int))
        .aload(1)
        .ifThen(Opcode.IF_ACMPEQ, then -> then.loadConstant(UNAVAILABLE).ireturn())
        .aload(0)
        .aload(1)
        .lload(2)
        .iload(4)
        .invokespecial(SUPER, "read", READ)
        .istore(6)
        .iload(6)
        .iload(4)
        .ifThen(
            Opcode.IF_ICMPLT,
            then ->
                then.aload(0)
                    .getfield(SELF, "emptied", CONSUMER)
                    .aload(1)
                    .iload(5)
                    .invokeinterface(
                        CONSUMER, "accept", MethodTypeDesc.of(CD_void, CD_Object, CD_int)))
        .iload(6)
        .ireturn();
  }

  /** Writes itself to a static final field, which nothing but {@code Unsafe} can. */
  private static void moveInto(ClassBuilder type) {
    type.withMethodBody(
        "moveInto",
        MethodTypeDesc.of(CD_void, FIELD),
        0,
        code ->
            code.invokestatic(UNSAFE, "getUnsafe", MethodTypeDesc.of(UNSAFE))
                .astore(2)
                .aload(2)
                .aload(2)
                .aload(1)
                .invokevirtual(UNSAFE, "staticFieldBase", MethodTypeDesc.of(CD_Object, FIELD))
                .aload(2)
                .aload(1)
                .invokevirtual(UNSAFE, "staticFieldOffset", MethodTypeDesc.of(CD_long, FIELD))
                .aload(0)
                .invokevirtual(
                    UNSAFE,
                    "putReferenceVolatile",
                    MethodTypeDesc.of(CD_void, CD_Object, CD_long, CD_Object))
                .return_());
  }
}
