package dev.weft.internal.hook;

import static java.lang.constant.ConstantDescs.CD_MethodHandle;
import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;
import static java.lang.constant.ConstantDescs.INIT_NAME;

import dev.weft.internal.jdk.ClassInJdk;
import dev.weft.internal.jdk.PrivateField;
import dev.weft.internal.jdk.UnsupportedJdk;
import java.io.FileDescriptor;
import java.lang.classfile.ClassBuilder;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Opcode;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.function.IntFunction;

/**
 * Replaces the JDK's {@code sun.nio.ch.SocketDispatcher}, so that fibers read and write stream
 * sockets by Weft's own system calls and Weft sees each read and close. All {@code Socket}s and
 * {@code SocketChannel}s call the dispatcher in a static field of their implementation:
 *
 * <pre>
 *   NioSocketImpl.nd      SocketDispatcher  becomes  WeftDispatcher
 *   SocketChannelImpl.nd  SocketDispatcher           WeftDispatcher
 * </pre>
 *
 * <p>The methods of {@code SocketDispatcher} are package-private, so WeftDispatcher is defined in
 * its package:
 *
 * <pre>
 *   final class WeftDispatcher extends SocketDispatcher {
 *     int read(FileDescriptor fd, long address, int length) {
 *       int got = read.invokeExact(fd, number(fd), address, length);
 *       return got == NOT_MINE ? super.read(fd, address, length) : checked(got);
 *     }
 *     int write(FileDescriptor fd, long address, int length) {
 *       int sent = write.invokeExact(number(fd), address, length);
 *       return sent == NOT_MINE ? super.write(fd, address, length) : checked(sent);
 *     }
 *     void close(FileDescriptor fd) {
 *       closing.run();
 *       super.close(fd);
 *     }
 *     int checked(int result) {
 *       if (result &gt;= INTERRUPTED) return result;
 *       if (result == RESET) throw new ConnectionResetException("Connection reset");
 *       throw new IOException(messages.apply(result));
 *     }
 *   }
 * </pre>
 *
 * <p>The two fields are final, and the JIT compiler treats their values as constants. Code that was
 * compiled before the exchange keeps the JDK's dispatcher: it makes its system call each time, as
 * without Weft, and Weft does not see the call.
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
  private static final ClassDesc RUNNABLE = ClassDesc.of("java.lang.Runnable");
  private static final ClassDesc STRING = ClassDesc.of("java.lang.String");
  private static final ClassDesc FAILURE = ClassDesc.of("java.io.IOException");
  private static final ClassDesc RESET_FAILURE = ClassDesc.of("sun.net.ConnectionResetException");
  private static final MethodTypeDesc NOTHING = MethodTypeDesc.of(CD_void);
  private static final MethodTypeDesc TRANSFER =
      MethodTypeDesc.of(CD_int, DESCRIPTOR, CD_long, CD_int);
  private static final MethodTypeDesc CLOSE = MethodTypeDesc.of(CD_void, DESCRIPTOR);
  private static final MethodTypeDesc CHECKED = MethodTypeDesc.of(CD_int, CD_int);
  private static final MethodTypeDesc APPLY = MethodTypeDesc.of(CD_Object, CD_int);
  private static final MethodTypeDesc OF_MESSAGE = MethodTypeDesc.of(CD_void, STRING);

  /** {@code IOStatus.EOF}: the peer has ended its stream. */
  public static final int END = -1;

  /** {@code IOStatus.UNAVAILABLE}: EAGAIN. */
  public static final int UNAVAILABLE = -2;

  /** {@code IOStatus.INTERRUPTED}: EINTR. */
  public static final int INTERRUPTED = -3;

  /** The result of a call that Weft leaves to the JDK's dispatcher. */
  public static final int NOT_MINE = -99;

  /** The result of a call on a connection that was reset; a smaller number is another failure. */
  public static final int RESET = -100;

  /** The type of a read: socket, descriptor, address and length. */
  public static final MethodType READ =
      MethodType.methodType(int.class, FileDescriptor.class, int.class, long.class, int.class);

  /** The type of a write: descriptor, address and length. */
  public static final MethodType WRITE =
      MethodType.methodType(int.class, int.class, long.class, int.class);

  /**
   * The callbacks, each called on the thread that reads, writes or closes.
   *
   * @param read of type {@link #READ}; returns a count, a constant above, or a number for messages
   * @param write of type {@link #WRITE}; likewise
   * @param closing called before a socket is closed
   * @param messages maps the number of a failure to its text
   */
  public record Calls(
      MethodHandle read, MethodHandle write, Runnable closing, IntFunction<String> messages) {}

  private DispatcherHook() {}

  /**
   * Replaces the dispatchers. To be called once.
   *
   * @throws UnsupportedJdk if the JDK's sockets are not as expected; then nothing has been changed
   */
  public static void install(Calls calls) throws UnsupportedJdk {
    try {
      Class<?> original = Class.forName(PACKAGE + "SocketDispatcher");
      MethodHandles.Lookup inside = MethodHandles.privateLookupIn(original, MethodHandles.lookup());
      Field ofSockets = place(PACKAGE + "NioSocketImpl", original);
      Field ofChannels = place(PACKAGE + "SocketChannelImpl", original);
      MethodType transfer =
          MethodType.methodType(int.class, FileDescriptor.class, long.class, int.class);
      inside.findVirtual(original, "read", transfer);
      inside.findVirtual(original, "write", transfer);
      inside.findVirtual(
          original, "close", MethodType.methodType(void.class, FileDescriptor.class));
      if (!BlockingChannelCall.isKnown()) {
        throw new NoSuchFieldException("Thread.nioBlocker is missing or of another type");
      }
      checkStatus("EOF", END);
      checkStatus("UNAVAILABLE", UNAVAILABLE);
      checkStatus("INTERRUPTED", INTERRUPTED);
      Class<?> type = inside.defineClass(weftDispatcher());
      Object dispatcher =
          inside
              .findConstructor(
                  type,
                  MethodType.methodType(
                      void.class,
                      MethodHandle.class,
                      MethodHandle.class,
                      Runnable.class,
                      IntFunction.class))
              .invoke(calls.read, calls.write, calls.closing, calls.messages);
      MethodHandle moveInto =
          inside.findVirtual(type, "moveInto", MethodType.methodType(void.class, Field.class));
      moveInto.invoke(dispatcher, ofSockets);
      moveInto.invoke(dispatcher, ofChannels);
    } catch (Throwable e) {
      throw new UnsupportedJdk(e);
    }
  }

  private static Field place(String owner, Class<?> original) throws ReflectiveOperationException {
    Field place = PrivateField.of(Class.forName(owner), "nd");
    if (!Modifier.isStatic(place.getModifiers()) || place.get(null).getClass() != original) {
      throw new NoSuchFieldException(owner + ".nd is no static SocketDispatcher");
    }
    return place;
  }

  private static void checkStatus(String name, int expected) throws ReflectiveOperationException {
    int found = PrivateField.of(Class.forName(PACKAGE + "IOStatus"), name).getInt(null);
    if (found != expected) {
      throw new NoSuchFieldException("IOStatus." + name + " is " + found);
    }
  }

  private static byte[] weftDispatcher() {
    return ClassInJdk.extending(
        SUPER,
        SELF,
        List.of(
            new ClassInJdk.Part("read", CD_MethodHandle),
            new ClassInJdk.Part("write", CD_MethodHandle),
            new ClassInJdk.Part("closing", RUNNABLE),
            new ClassInJdk.Part("messages", FUNCTION)),
        type -> {
          type.withMethodBody("read", TRANSFER, 0, DispatcherHook::read);
          type.withMethodBody("write", TRANSFER, 0, DispatcherHook::write);
          type.withMethodBody("checked", CHECKED, 0, DispatcherHook::checked);
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

  // local variables of both: 1 the descriptor, 2 and 3 the address, 4 the length, 5 the result

  private static void read(CodeBuilder code) {
    code.aload(0).getfield(SELF, "read", CD_MethodHandle).aload(1);
    transfer(code, "read", READ);
  }

  private static void write(CodeBuilder code) {
    code.aload(0).getfield(SELF, "write", CD_MethodHandle);
    transfer(code, "write", WRITE);
  }

  /** Calls the handle on the stack, and the JDK's own method if that returns NOT_MINE. */
  private static void transfer(CodeBuilder code, String original, MethodType type) {
    number(code);
    code.lload(2)
        .iload(4)
        .invokevirtual(CD_MethodHandle, "invokeExact", type.describeConstable().orElseThrow())
        .istore(5)
        .iload(5)
        .loadConstant(NOT_MINE)
        .ifThen(
            Opcode.IF_ICMPEQ,
            then ->
                then.aload(0)
                    .aload(1)
                    .lload(2)
                    .iload(4)
                    .invokespecial(SUPER, original, TRANSFER)
                    .ireturn())
        .aload(0)
        .iload(5)
        .invokevirtual(SELF, "checked", CHECKED)
        .ireturn();
  }

  private static void number(CodeBuilder code) {
    code.invokestatic(SECRETS, "getJavaIOFileDescriptorAccess", MethodTypeDesc.of(NUMBERS))
        .aload(1)
        .invokeinterface(NUMBERS, "get", MethodTypeDesc.of(CD_int, DESCRIPTOR));
  }

  private static void checked(CodeBuilder code) {
    code.iload(1)
        .loadConstant(INTERRUPTED)
        .ifThen(Opcode.IF_ICMPGE, then -> then.iload(1).ireturn())
        .iload(1)
        .loadConstant(RESET)
        .ifThen(
            Opcode.IF_ICMPEQ,
            then ->
                then.new_(RESET_FAILURE)
                    .dup()
                    .ldc("Connection reset")
                    .invokespecial(RESET_FAILURE, INIT_NAME, OF_MESSAGE)
                    .athrow())
        .new_(FAILURE)
        .dup()
        .aload(0)
        .getfield(SELF, "messages", FUNCTION)
        .iload(1)
        .invokeinterface(FUNCTION, "apply", APPLY)
        .checkcast(STRING)
        .invokespecial(FAILURE, INIT_NAME, OF_MESSAGE)
        .athrow();
  }

  /** Generates a method that stores this in a static final field: only {@code Unsafe} can. */
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
