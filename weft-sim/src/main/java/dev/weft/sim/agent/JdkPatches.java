package dev.weft.sim.agent;

import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_String;
import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_double;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.Label;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.lang.classfile.Opcode;
import java.lang.classfile.TypeKind;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.NewObjectInstruction;
import java.lang.classfile.instruction.ReturnInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * What changes in classes of the JDK, each patch with a name. A JDK in which a patch finds no place
 * is unlike the one this was written for: {@link #missing}.
 *
 * <p>The file is long because it is a list: each patch is short and stands beside its class.
 */
final class JdkPatches {
  static final ClassDesc CALLS = ClassDesc.of("dev.weft.sim.boot.RewrittenCalls");

  /** The classes that must be there when the patches are counted. */
  static final List<String> TO_LOAD =
      List.of(
          "java.lang.VirtualThread",
          "java.lang.Math",
          "java.lang.ProcessBuilder",
          "java.lang.Runtime",
          "java.security.SecureRandom",
          "java.time.Clock",
          "java.util.Collections",
          "java.util.ImmutableCollections$MapN$MapNIterator",
          "java.util.ImmutableCollections$SetN$SetNIterator",
          "java.util.Random",
          "java.util.SplittableRandom",
          "java.util.Timer",
          "java.util.concurrent.CompletableFuture",
          "java.util.concurrent.CompletableFuture$DelayedExecutor",
          "java.util.concurrent.Executors$DefaultThreadFactory",
          "java.util.concurrent.ForkJoinPool",
          "java.util.concurrent.ThreadLocalRandom",
          "java.util.concurrent.locks.LockSupport",
          "sun.nio.fs.AbstractWatchService");

  private static final Set<String> NAMES =
      Set.of(
          "java/lang/VirtualThread",
          "java/lang/Thread",
          "java/lang/Math",
          "java/lang/Object",
          "java/lang/ProcessBuilder",
          "java/lang/Runtime",
          "java/security/SecureRandom",
          "java/util/Calendar",
          "java/util/Collections",
          "java/util/Date",
          "java/util/GregorianCalendar",
          "java/util/Random",
          "java/util/SplittableRandom",
          "java/util/Timer",
          "java/util/TimerTask",
          "java/util/TimerThread",
          "sun/nio/fs/AbstractWatchService");

  private static final String FORK_JOIN = "a ForkJoinPool, which parallel streams use too";

  /** What is refused, by the method that begins it; more in {@link SocketPatches}. */
  private static final Map<String, String> REFUSED =
      Map.of(
          "ProcessBuilder.start",
          "a process",
          "ForkJoinPool.poolSubmit",
          FORK_JOIN,
          "ForkJoinPool.externalSubmissionQueue",
          FORK_JOIN, // for ForkJoinTask.fork
          "VirtualThread.parkOnCarrierThread",
          Agent.HOLDS_ITS_THREAD,
          "AbstractWatchService.<init>",
          "a WatchService");

  /**
   * The beginnings of the names of classes that are rewritten only because they read a clock. Those
   * that read one and are left as they are: {@code ClockReadersTest}.
   */
  private static final List<String> CLOCK_READERS =
      List.of(
          "java/lang/ref/ReferenceQueue",
          "java/net/HttpCookie",
          "java/net/SocksSocketImpl", // every Socket.connect with a timeout goes through it
          "java/text/SimpleDateFormat",
          "java/util/JapaneseImperialCalendar",
          "java/util/zip/ZipOutputStream",
          "jdk/internal/misc/ThreadFlock",
          "sun/net/httpserver/",
          "sun/net/www/http/KeepAlive",
          "sun/security/provider/certpath/",
          "sun/security/ssl/",
          "sun/security/util/MemoryCache",
          "sun/util/calendar/",
          "sun/util/locale/provider/CalendarProviderImpl");

  private static final Set<String> EXPECTED =
      Set.of(
          "VirtualThread: clock",
          "VirtualThread.compareAndSetOnWaitingList",
          "VirtualThread.unblock",
          "Thread.genThreadName",
          "Thread.<init>: daemon",
          "Thread.start()",
          "Thread.start(ThreadContainer)",
          "Thread.alive",
          "Thread.interrupt",
          "Thread.isInterrupted",
          "Thread.threadState",
          "Thread.join",
          "LockSupport.unpark",
          "ReferenceQueue.remove",
          "Clock: adjustment",
          "Random.seedUniquifier",
          "SplittableRandom.<init>",
          "ThreadLocalRandom.localInit",
          "ThreadLocalRandom.nextSecondarySeed",
          "Collections.shuffle",
          "DefaultThreadFactory: pool",
          "Timer.serialNumber",
          "VirtualThread.parkNanos",
          "VirtualThread.parkOnCarrierThread",
          "Math.random",
          "Object.wait",
          "Runtime.exit",
          "Runtime.halt",
          "Runtime.addShutdownHook",
          "SecureRandom.nextBytes",
          "ImmutableCollections: order",
          "CompletableFuture: pool",
          "CompletableFuture: delay",
          "ProcessBuilder.start",
          "ForkJoinPool.poolSubmit",
          "ForkJoinPool.externalSubmissionQueue",
          "AbstractWatchService.<init>");

  /** Its clocks are rewritten, and it asks whether the current thread is the one it has made. */
  private static final String HTTP_CLIENT = "jdk/internal/net/http/";

  /** Generators of random numbers that {@code RandomGenerator.of} makes. */
  private static final String GENERATORS = "jdk/internal/random/";

  private static final ClassDesc SOCKETS = ClassDesc.of("dev.weft.sim.boot.RewrittenSockets");
  private static final ClassDesc ADDRESS = ClassDesc.of("java.net.InetAddress");
  private static final ClassDesc THREAD = ClassDesc.of("java.lang.Thread");
  private static final ClassDesc RANDOM = ClassDesc.of("java.util.Random");
  private static final ClassDesc ORDERED_SET = ClassDesc.of("java.util.LinkedHashSet");
  private static final ClassDesc EXECUTOR = ClassDesc.of("java.util.concurrent.Executor");
  private static final MethodTypeDesc NOTHING = MethodTypeDesc.of(CD_void);
  private static final MethodTypeDesc TO_LONG = MethodTypeDesc.of(CD_long);
  private static final MethodTypeDesc LONG_TO_LONG = MethodTypeDesc.of(CD_long, CD_long);
  private static final MethodTypeDesc INT_TO_INT = MethodTypeDesc.of(CD_int, CD_int);
  private static final MethodTypeDesc THREAD_TO_THREAD = MethodTypeDesc.of(THREAD, THREAD);

  // no skip list: it would use up random numbers of the fiber that loads a class
  private final Set<String> applied = ConcurrentHashMap.newKeySet();

  /** Called while classes are loaded: it must not need a class that is not loaded yet. */
  static boolean concerns(String name) {
    return NAMES.contains(name)
        || name.startsWith("java/util/concurrent/")
        || name.startsWith("java/time/Clock")
        || name.startsWith("java/util/ImmutableCollections")
        || FilePatches.concerns(name)
        || SocketPatches.concerns(name)
        || name.startsWith(HTTP_CLIENT)
        || name.startsWith(GENERATORS)
        || readsClock(name);
  }

  private static boolean readsClock(String name) {
    for (String beginning : CLOCK_READERS) { // a stream would load classes
      if (name.startsWith(beginning)) {
        return true;
      }
    }
    return false;
  }

  /** Returns the names of the patches that found no place. */
  List<String> missing() {
    Set<String> left = new TreeSet<>(EXPECTED);
    FilePatches.addExpected(left);
    left.addAll(SocketPatches.expected());
    left.removeAll(applied);
    return new ArrayList<>(left);
  }

  byte[] rewrite(ClassFile files, String name, byte[] bytes) {
    boolean[] changed = new boolean[1];
    byte[] result =
        files.transformClass(
            files.parse(bytes),
            (ClassTransform)
                (builder, element) -> {
                  if (element instanceof MethodModel method && method.code().isPresent()) {
                    builder.transformMethod(
                        method, MethodTransform.transformingCode(of(name, method, changed)));
                  } else {
                    builder.with(element);
                  }
                });
    return changed[0] ? result : bytes;
  }

  private CodeTransform of(String type, MethodModel method, boolean[] changed) {
    if (!FilePatches.concerns(type)) {
      return new OfMethod(type, method, changed);
    }
    return FilePatches.of(
        type,
        method,
        patch -> {
          applied.add(patch);
          changed[0] = true;
        });
  }

  /** The patches of one method. */
  private final class OfMethod implements CodeTransform {
    private final String simple;
    private final MethodModel model;
    private final String method;
    private final boolean isHttpClient;
    private final boolean isGenerator;
    private final boolean[] changed;
    private @Nullable Label waitBegin;

    OfMethod(String type, MethodModel model, boolean[] changed) {
      this.simple = type.substring(type.lastIndexOf('/') + 1);
      this.model = model;
      this.method = model.methodName().stringValue();
      this.isHttpClient = type.startsWith(HTTP_CLIENT);
      this.isGenerator = type.startsWith(GENERATORS) || simple.equals("SplittableRandom");
      this.changed = changed;
    }

    private void note(String patch) {
      applied.add(patch);
      changed[0] = true;
    }

    // ---- at the beginning of methods ----

    @Override
    public void atStart(CodeBuilder code) {
      switch (simple + "." + method) {
        case "VirtualThread.compareAndSetOnWaitingList" -> {
          note("VirtualThread.compareAndSetOnWaitingList");
          code.iload(1)
              .iload(2)
              .invokestatic(
                  CALLS, "unblockBegins", MethodTypeDesc.of(CD_void, CD_boolean, CD_boolean));
        }
        case "VirtualThread.parkNanos" -> {
          note("VirtualThread.parkNanos");
          code.lload(1).invokestatic(CALLS, "simulationNanos", LONG_TO_LONG).lstore(1);
        }
        case "Object.wait" -> {
          if (model.methodTypeSymbol().parameterCount() == 1) { // the others call it
            note("Object.wait");
            code.aload(0).invokestatic(CALLS, "waitBegins", MethodTypeDesc.of(CD_void, CD_Object));
            waitBegin = code.newBoundLabel();
          }
        }
        case "Thread.start" -> {
          note(
              model.methodTypeSymbol().parameterCount() == 0
                  ? "Thread.start()"
                  : "Thread.start(ThreadContainer)");
          Label go = code.newLabel();
          code.aload(0)
              .invokestatic(CALLS, "startInPlace", MethodTypeDesc.of(CD_boolean, THREAD))
              .ifeq(go)
              .return_()
              .labelBinding(go);
        }
        case "Thread.alive",
            "Thread.interrupt",
            "Thread.isInterrupted",
            "Thread.threadState",
            "Thread.join" -> {
          note("Thread." + method);
          forward(code);
        }
        case "Thread.genThreadName" -> {
          note("Thread.genThreadName");
          Label go = code.newLabel();
          inside(code, go);
          code.invokestatic(CALLS, "threadName", MethodTypeDesc.of(CD_String))
              .areturn()
              .labelBinding(go);
        }
        case "LockSupport.unpark" -> {
          note("LockSupport.unpark");
          code.aload(0).invokestatic(CALLS, "toUnpark", THREAD_TO_THREAD).astore(0);
        }
        case "Random.seedUniquifier" -> {
          note("Random.seedUniquifier");
          Label go = code.newLabel();
          inside(code, go);
          code.invokestatic(CALLS, "random", TO_LONG).lreturn().labelBinding(go);
        }
        case "Math.random" -> {
          note("Math.random");
          Label go = code.newLabel();
          inside(code, go);
          code.invokestatic(CALLS, "randomDouble", MethodTypeDesc.of(CD_double))
              .dreturn()
              .labelBinding(go);
        }
        case "Runtime.exit", "Runtime.halt" -> {
          note("Runtime." + method);
          code.iload(1).invokestatic(CALLS, "exit", MethodTypeDesc.of(CD_void, CD_int));
        }
        case "Runtime.addShutdownHook" -> {
          note("Runtime.addShutdownHook");
          Label go = code.newLabel();
          inside(code, go);
          code.return_().labelBinding(go); // else a hook of each run would run when the JVM ends
        }
        case "SecureRandom.nextBytes" -> {
          if (model.methodTypeSymbol().parameterCount() == 1) {
            note("SecureRandom.nextBytes");
            Label go = code.newLabel();
            code.aload(1)
                .invokestatic(
                    CALLS, "fill", MethodTypeDesc.of(CD_boolean, ClassDesc.ofDescriptor("[B")))
                .ifeq(go)
                .return_()
                .labelBinding(go);
          }
        }
        case "InetAddress.getAllByName0" ->
            replaceInside(code, "resolve", MethodTypeDesc.of(ADDRESS.arrayType(), CD_String));
        case "InetAddress.getLocalHost" ->
            replaceInside(code, "localHost", MethodTypeDesc.of(ADDRESS));
        case "InetAddress.getHostFromNameService" ->
            replaceInside(code, "nameOf", MethodTypeDesc.of(CD_String, ADDRESS));
        default -> refuse(code);
      }
    }

    @Override
    public void atEnd(CodeBuilder code) {
      if (waitBegin != null) {
        Label end = code.newBoundLabel();
        code.exceptionCatchAll(waitBegin, end, end)
            .invokestatic(CALLS, "waitEnds", NOTHING)
            .athrow();
      }
    }

    private void refuse(CodeBuilder code) {
      String place = simple + "." + method;
      String refused = REFUSED.getOrDefault(place, SocketPatches.refused(place));
      if (refused != null) {
        note(place);
        code.loadConstant(refused)
            .invokestatic(CALLS, "refuse", MethodTypeDesc.of(CD_void, CD_String));
      }
    }

    /** Returns, inside, what a method of RewrittenSockets returns for the same arguments. */
    private void replaceInside(CodeBuilder code, String name, MethodTypeDesc type) {
      note(simple + "." + method);
      Label go = code.newLabel();
      inside(code, go);
      for (int i = 0; i < type.parameterCount(); i++) {
        code.aload(i);
      }
      code.invokestatic(SOCKETS, name, type).areturn().labelBinding(go);
    }

    private void inside(CodeBuilder code, Label otherwise) {
      code.invokestatic(CALLS, "inside", MethodTypeDesc.of(CD_boolean)).ifeq(otherwise);
    }

    /** Calls the same method of the thread that runs in place of this one, if there is one. */
    private void forward(CodeBuilder code) {
      MethodTypeDesc type = model.methodTypeSymbol();
      Label go = code.newLabel();
      code.aload(0).invokestatic(CALLS, "inPlaceOf", THREAD_TO_THREAD).dup().ifnull(go);
      for (int i = 0; i < type.parameterCount(); i++) {
        code.loadLocal(TypeKind.from(type.parameterType(i)), code.parameterSlot(i));
      }
      code.invokevirtual(THREAD, method, type)
          .return_(TypeKind.from(type.returnType()))
          .labelBinding(go)
          .pop();
    }

    // ---- inside methods ----

    @Override
    public void accept(CodeBuilder code, CodeElement element) {
      switch (element) {
        case InvokeInstruction call -> rewriteCall(code, call);
        case NewObjectInstruction made when isSelectedKeys(made.className().asInternalName()) -> {
          note("SelectorImpl: order"); // keys have identity hash codes
          code.new_(ORDERED_SET);
        }
        case FieldInstruction field when field.opcode() == Opcode.GETSTATIC -> {
          code.with(field);
          rewriteRead(code, field);
        }
        case ReturnInstruction end
            when simple.equals("VirtualThread") && method.equals("unblock") -> {
          note("VirtualThread.unblock");
          code.invokestatic(CALLS, "unblockEnds", NOTHING).with(end);
        }
        case ReturnInstruction end when waitBegin != null ->
            code.invokestatic(CALLS, "waitEnds", NOTHING).with(end);
        default -> code.with(element);
      }
    }

    private boolean isSelectedKeys(String type) {
      return simple.equals("SelectorImpl") && type.equals("java/util/HashSet");
    }

    private void rewriteCall(CodeBuilder code, InvokeInstruction call) {
      String owner = call.owner().asInternalName();
      String name = call.name().stringValue();
      String redirected = SocketPatches.redirect(code, simple, call);
      if (redirected != null) {
        note(redirected);
      } else if (isHttpClient && name.equals("currentThread")) {
        note("HttpClient: thread");
        code.with(call).invokestatic(CALLS, "plainOf", THREAD_TO_THREAD);
      } else if (name.equals("<init>") && isSelectedKeys(owner)) {
        code.invokespecial(ORDERED_SET, name, call.typeSymbol());
      } else if (ProgramRewriter.rewriteClock(code, owner, name)) {
        note(simple + ": clock");
      } else if (name.equals("getNanoTimeAdjustment")) {
        note("Clock: adjustment");
        code.dup2()
            .with(call)
            .invokestatic(
                CALLS, "nanoTimeAdjustment", MethodTypeDesc.of(CD_long, CD_long, CD_long));
      } else if (name.equals("wait")
          && (simple + "." + method).equals("ReferenceQueue.remove0")
          && model.methodTypeSymbol().parameterCount() == 0) {
        note("ReferenceQueue.remove"); // only the garbage collector would wake it
        code.loadConstant("a wait for the garbage collector (ReferenceQueue.remove)")
            .invokestatic(CALLS, "refuse", MethodTypeDesc.of(CD_void, CD_String))
            .with(call);
      } else if (name.equals("isDaemon") && (simple + "." + method).equals("Thread.<init>")) {
        note("Thread.<init>: daemon");
        code.invokestatic(CALLS, "isDaemon", MethodTypeDesc.of(CD_boolean, THREAD));
      } else if (name.equals("getAndAdd") && simple.equals("ThreadLocalRandom")) {
        note(simple + "." + method); // localInit, nextSecondarySeed
        code.with(call).invokestatic(CALLS, "seed", LONG_TO_LONG);
      } else if (name.equals("getAndAdd") && isGenerator && method.equals("<init>")) {
        note(simple + ".<init>");
        code.with(call).invokestatic(CALLS, "seed", LONG_TO_LONG);
      } else if (name.equals("getAndIncrement")
          && (simple + "." + method).equals("Executors$DefaultThreadFactory.<init>")) {
        note("DefaultThreadFactory: pool");
        code.with(call).invokestatic(CALLS, "poolNumber", INT_TO_INT);
      } else if (name.equals("getAndIncrement")
          && (simple + "." + method).equals("Timer.serialNumber")) {
        note("Timer.serialNumber");
        code.with(call).invokestatic(CALLS, "timerNumber", INT_TO_INT);
      } else if (name.equals("threadId") && simple.equals("ThreadLocalRandom")) {
        note("ThreadLocalRandom: thread id");
        code.invokestatic(CALLS, "threadIdOfSeed", MethodTypeDesc.of(CD_long, THREAD));
      } else if (name.equals("scheduleDelayedTask") && simple.startsWith("CompletableFuture")) {
        note("CompletableFuture: delay");
        runLater(code, call);
      } else {
        code.with(call);
      }
    }

    /** The stack has a pool and a task. */
    private void runLater(CodeBuilder code, InvokeInstruction call) {
      Label real = code.newLabel();
      Label end = code.newLabel();
      int task = code.allocateLocal(TypeKind.REFERENCE);
      code.astore(task)
          .aload(task)
          .invokestatic(CALLS, "delayed", MethodTypeDesc.of(CD_boolean, CD_Object))
          .ifeq(real)
          .pop();
      if (!call.typeSymbol().returnType().equals(CD_void)) {
        code.aconst_null();
      }
      code.goto_(end)
          .labelBinding(real)
          .aload(task)
          .checkcast(call.typeSymbol().parameterType(0))
          .with(call)
          .labelBinding(end);
    }

    private void rewriteRead(CodeBuilder code, FieldInstruction field) {
      switch (field.name().stringValue()) {
        case "SALT32L" -> {
          note("ImmutableCollections: order");
          code.invokestatic(CALLS, "salt", LONG_TO_LONG);
        }
        case "REVERSE" -> {
          if (simple.startsWith("ImmutableCollections") && !method.equals("<clinit>")) {
            note("ImmutableCollections: order");
            code.invokestatic(CALLS, "reverse", MethodTypeDesc.of(CD_boolean, CD_boolean));
          }
        }
        case "r" -> {
          if ((simple + "." + method).equals("Collections.shuffle")) {
            note("Collections.shuffle");
            code.invokestatic(CALLS, "sharedRandom", MethodTypeDesc.of(RANDOM, RANDOM));
          }
        }
        case "ASYNC_POOL" -> {
          if (Set.of("supplyAsync", "runAsync", "defaultExecutor", "delayedExecutor")
              .contains(method)) {
            note("CompletableFuture: pool");
            code.invokestatic(CALLS, "pool", MethodTypeDesc.of(EXECUTOR, EXECUTOR));
          }
        }
        default -> {}
      }
    }
  }
}
