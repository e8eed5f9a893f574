package dev.weft.internal.switching;

import static java.lang.constant.ConstantDescs.CD_Class;
import static java.lang.constant.ConstantDescs.CD_MethodHandle;
import static java.lang.constant.ConstantDescs.CD_MethodHandles_Lookup;
import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_String;
import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;
import static java.lang.constant.ConstantDescs.DEFAULT_NAME;
import static java.lang.invoke.MethodType.methodType;

import dev.weft.internal.jdk.Inside;
import java.lang.classfile.Annotation;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.attribute.RuntimeVisibleAnnotationsAttribute;
import java.lang.constant.ClassDesc;
import java.lang.constant.DirectMethodHandleDesc;
import java.lang.constant.DynamicConstantDesc;
import java.lang.constant.MethodHandleDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles.Lookup;
import jdk.internal.vm.Continuation;

/**
 * Generates the class that mounts virtual threads for {@link Mounting}: {@code
 * VirtualThread.runContinuation}, {@code mount} and {@code unmount} of JDK 25 in one method, with
 * fewer fences. The class is defined as a hidden nestmate of {@code VirtualThread} in {@code
 * java.lang}, because it uses private members there. In Java it would be
 *
 * <pre>
 *   &#64;ChangesCurrentThread
 *   static int run(VirtualThread thread) {
 *     Thread carrier = Thread.currentCarrierThread();
 *     int state = thread.state;
 *     if (thread.interrupted || carrier.interrupted || state != UNPARKED &amp;&amp; state != YIELDED) {
 *       return NOT_MINE;
 *     }
 *     thread.notifyJvmtiMount(true);
 *     thread.carrierThread = carrier;                            // release
 *     if (!thread.compareAndSetState(state, RUNNING)) {          // a fence
 *       thread.carrierThread = null;                             // release
 *       thread.notifyJvmtiUnmount(false);
 *       return TAKEN_BACK;                                       // tryGetStackTrace has suspended it
 *     }
 *     if (state == UNPARKED) {
 *       thread.cancelTimeoutTask();
 *       thread.setParkPermit(false);
 *     }
 *     if (thread.interrupted) {
 *       carrier.setInterrupt();
 *     }
 *     carrier.setCurrentThread(thread);
 *     try {
 *       thread.cont.run();
 *     } finally {
 *       carrier.setCurrentThread(carrier);
 *       thread.carrierThread = null;                             // release
 *       thread.notifyJvmtiUnmount(false);
 *     }
 *     return thread.state;
 *   }
 * </pre>
 */
final class MountingClass {
  /** Returned by run if the JDK has to run the slice; nothing has been done. */
  static final int NOT_MINE = -1;

  /**
   * Returned by run if the JDK has to run the slice; the thread was mounted for a moment, in which
   * an interrupt of the thread may have reached the carrier.
   */
  static final int TAKEN_BACK = -2;

  private static final ClassDesc SELF = ClassDesc.of("java.lang.WeftSlices");
  private static final ClassDesc VIRTUAL = ClassDesc.of("java.lang.VirtualThread");
  private static final ClassDesc THREAD = ClassDesc.of("java.lang.Thread");
  private static final ClassDesc CONTINUATION = ClassDesc.of("jdk.internal.vm.Continuation");
  private static final ClassDesc UNSAFE = ClassDesc.of("jdk.internal.misc.Unsafe");
  private static final ClassDesc HANDLES = ClassDesc.of("java.lang.invoke.MethodHandles");

  /** Tells the JIT compiler that Thread.currentThread() changes inside the method. */
  private static final RuntimeVisibleAnnotationsAttribute CHANGES_CURRENT_THREAD =
      RuntimeVisibleAnnotationsAttribute.of(
          Annotation.of(ClassDesc.of("jdk.internal.vm.annotation.ChangesCurrentThread")));

  /** The class data of the hidden class: {@link ContinuationRun#RUN}. */
  private static final DynamicConstantDesc<?> RUN_CONTINUATION =
      DynamicConstantDesc.ofNamed(
          MethodHandleDesc.ofMethod(
              DirectMethodHandleDesc.Kind.STATIC,
              HANDLES,
              "classData",
              MethodTypeDesc.of(CD_Object, CD_MethodHandles_Lookup, CD_String, CD_Class)),
          DEFAULT_NAME,
          CD_MethodHandle);

  private static final MethodTypeDesc NOTHING = MethodTypeDesc.of(CD_void);
  private static final MethodTypeDesc FLAG = MethodTypeDesc.of(CD_void, CD_boolean);
  private static final MethodTypeDesc OF_THREAD = MethodTypeDesc.of(CD_void, THREAD);

  // the local variables of run
  private static final int SELF_THREAD = 0;
  private static final int CARRIER = 1;
  private static final int STATE = 2;

  private final int running;
  private final int unparked;
  private final int yielded;

  private MountingClass(Lookup virtual) throws ReflectiveOperationException {
    this.running = Mounting.state(virtual, "RUNNING");
    this.unparked = Mounting.state(virtual, "UNPARKED");
    this.yielded = Mounting.state(virtual, "YIELDED");
  }

  /**
   * Defines the class; to be called once.
   *
   * @return a handle of its run, which takes a virtual {@code Thread}
   * @throws ReflectiveOperationException if the JDK is not as expected
   */
  static MethodHandle define() throws ReflectiveOperationException {
    Class<?> type = Class.forName("java.lang.VirtualThread");
    Lookup virtual = Inside.of(type);
    check(virtual);
    MountingClass made = new MountingClass(virtual);
    return Inside.defineBeside(
            type,
            SELF,
            MethodTypeDesc.of(CD_int, VIRTUAL),
            ContinuationRun.RUN,
            method -> method.with(CHANGES_CURRENT_THREAD).withCode(made::run))
        .asType(methodType(int.class, Thread.class));
  }

  /** Looks up every member that run uses: run would fail only when it is called. */
  private static void check(Lookup virtual) throws ReflectiveOperationException {
    Class<?> type = virtual.lookupClass();
    virtual.findVirtual(type, "notifyJvmtiMount", methodType(void.class, boolean.class));
    virtual.findVirtual(type, "notifyJvmtiUnmount", methodType(void.class, boolean.class));
    virtual.findVirtual(
        type, "compareAndSetState", methodType(boolean.class, int.class, int.class));
    virtual.findVirtual(type, "cancelTimeoutTask", methodType(void.class));
    virtual.findVirtual(type, "setParkPermit", methodType(void.class, boolean.class));
    virtual.findVarHandle(type, "state", int.class);
    virtual.findVarHandle(type, "cont", Continuation.class);
    virtual.findStaticVarHandle(type, "CARRIER_THREAD", long.class);
    virtual.findStaticVarHandle(type, "U", Class.forName("jdk.internal.misc.Unsafe"));
    virtual.findVarHandle(Thread.class, "interrupted", boolean.class);
    virtual.findStatic(Thread.class, "currentCarrierThread", methodType(Thread.class));
    virtual.findVirtual(Thread.class, "setCurrentThread", methodType(void.class, Thread.class));
    virtual.findVirtual(Thread.class, "setInterrupt", methodType(void.class));
  }

  private void run(CodeBuilder code) {
    Label notMine = code.newLabel();
    checkMine(code, notMine);
    mount(code);
    code.trying(
        block ->
            block
                .ldc(RUN_CONTINUATION)
                .aload(SELF_THREAD)
                .getfield(VIRTUAL, "cont", CONTINUATION)
                .invokevirtual(
                    CD_MethodHandle, "invokeExact", MethodTypeDesc.of(CD_void, CONTINUATION)),
        handlers ->
            handlers.catchingAll(
                handler -> {
                  unmount(handler);
                  handler.athrow();
                }));
    unmount(code);
    code.aload(SELF_THREAD).getfield(VIRTUAL, "state", CD_int).ireturn();
    code.labelBinding(notMine).loadConstant(NOT_MINE).ireturn();
  }

  /** Loads the local variables; jumps to the label if the JDK has to run the slice. */
  private void checkMine(CodeBuilder code, Label notMine) {
    Label mine = code.newLabel();
    code.invokestatic(THREAD, "currentCarrierThread", MethodTypeDesc.of(THREAD))
        .astore(CARRIER)
        .aload(SELF_THREAD)
        .getfield(VIRTUAL, "state", CD_int)
        .istore(STATE);
    code.aload(SELF_THREAD).getfield(THREAD, "interrupted", CD_boolean).ifne(notMine);
    code.aload(CARRIER).getfield(THREAD, "interrupted", CD_boolean).ifne(notMine);
    code.iload(STATE).loadConstant(unparked).if_icmpeq(mine);
    code.iload(STATE).loadConstant(yielded).if_icmpne(notMine);
    code.labelBinding(mine);
  }

  private void mount(CodeBuilder code) {
    Label taken = code.newLabel();
    Label noPermit = code.newLabel();
    Label notInterrupted = code.newLabel();
    code.aload(SELF_THREAD).iconst_1().invokevirtual(VIRTUAL, "notifyJvmtiMount", FLAG);
    setCarrier(code, () -> code.aload(CARRIER));
    code.aload(SELF_THREAD)
        .iload(STATE)
        .loadConstant(running)
        .invokevirtual(VIRTUAL, "compareAndSetState", MethodTypeDesc.of(CD_boolean, CD_int, CD_int))
        .ifne(taken);
    letGo(code);
    code.loadConstant(TAKEN_BACK).ireturn();
    code.labelBinding(taken);
    code.iload(STATE).loadConstant(unparked).if_icmpne(noPermit);
    code.aload(SELF_THREAD).invokevirtual(VIRTUAL, "cancelTimeoutTask", NOTHING);
    code.aload(SELF_THREAD).iconst_0().invokevirtual(VIRTUAL, "setParkPermit", FLAG);
    code.labelBinding(noPermit);
    code.aload(SELF_THREAD).getfield(THREAD, "interrupted", CD_boolean).ifeq(notInterrupted);
    code.aload(CARRIER).invokevirtual(THREAD, "setInterrupt", NOTHING);
    code.labelBinding(notInterrupted);
    code.aload(CARRIER).aload(SELF_THREAD).invokevirtual(THREAD, "setCurrentThread", OF_THREAD);
  }

  private static void unmount(CodeBuilder code) {
    code.aload(CARRIER).aload(CARRIER).invokevirtual(THREAD, "setCurrentThread", OF_THREAD);
    letGo(code);
  }

  private static void letGo(CodeBuilder code) {
    setCarrier(code, code::aconst_null);
    code.aload(SELF_THREAD).iconst_0().invokevirtual(VIRTUAL, "notifyJvmtiUnmount", FLAG);
  }

  private static void setCarrier(CodeBuilder code, Runnable pushCarrier) {
    code.getstatic(VIRTUAL, "U", UNSAFE)
        .aload(SELF_THREAD)
        .getstatic(VIRTUAL, "CARRIER_THREAD", CD_long);
    pushCarrier.run();
    code.invokevirtual(
        UNSAFE, "putReferenceRelease", MethodTypeDesc.of(CD_void, CD_Object, CD_long, CD_Object));
  }
}
