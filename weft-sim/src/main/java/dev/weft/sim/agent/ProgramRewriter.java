package dev.weft.sim.agent;

import static dev.weft.sim.agent.JdkPatches.CALLS;
import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_String;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;

import dev.weft.sim.agent.Sites.Site;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.FieldModel;
import java.lang.classfile.Label;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.lang.classfile.Opcode;
import java.lang.classfile.TypeKind;
import java.lang.classfile.attribute.SourceFileAttribute;
import java.lang.classfile.instruction.ArrayLoadInstruction;
import java.lang.classfile.instruction.ArrayStoreInstruction;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.LineNumber;
import java.lang.classfile.instruction.MonitorInstruction;
import java.lang.classfile.instruction.NewObjectInstruction;
import java.lang.classfile.instruction.ReturnInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDesc;
import java.lang.constant.DirectMethodHandleDesc;
import java.lang.constant.DynamicCallSiteDesc;
import java.lang.constant.MethodHandleDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.AccessFlag;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Rewrites classes of the program: clock reads, the number of processors and class initializers
 * everywhere; in named packages also a point before each operation that another fiber may see,
 * which is a call of {@code RewrittenCalls.point}.
 */
final class ProgramRewriter {
  private static final MethodTypeDesc POINT = MethodTypeDesc.of(CD_void, CD_Object, CD_int);
  private static final MethodTypeDesc NOTHING = MethodTypeDesc.of(CD_void);
  private static final MethodTypeDesc TO_LONG = MethodTypeDesc.of(CD_long);

  /** Parts of java.util in which no state is shared, or only behind calls that have points. */
  private static final List<String> NO_POINTS =
      List.of(
          "java/util/function/",
          "java/util/stream/",
          "java/util/regex/",
          "java/util/Objects",
          "java/util/Optional",
          "java/util/concurrent/TimeUnit",
          "java/util/concurrent/ThreadLocalRandom",
          "java/util/Random",
          "java/util/Locale",
          "java/util/Arrays",
          "java/util/UUID");

  /** The parts of Weft that programs share. */
  private static final List<String> WEFT =
      List.of(
          "dev/weft/channel/",
          "dev/weft/sync/",
          "dev/weft/Fiber",
          "dev/weft/Scope",
          "dev/weft/Weft");

  private static final Set<String> THREAD_POINTS =
      Set.of(
          "start",
          "join",
          "interrupt",
          "isInterrupted",
          "isAlive",
          "getState",
          "startVirtualThread");
  private static final Set<String> OBJECT_POINTS = Set.of("wait", "notify", "notifyAll");

  /** The beginnings of names of methods that only look. */
  private static final List<String> LOOKS =
      List.of(
          "get", "is", "contains", "peek", "size", "count", "has", "estimated", "iterator", "next");

  private final String type;
  private final String simple;
  private final String file;
  private final boolean points;
  private final SynchronizedMethods synchronizedMethods;
  private final Set<String> constants = new HashSet<>();
  private boolean changed;

  private ProgramRewriter(
      ClassModel model, String type, boolean points, SynchronizedMethods synchronizedMethods) {
    this.synchronizedMethods = synchronizedMethods;
    this.type = type;
    this.simple = simpleName(type);
    this.file =
        model
            .findAttribute(Attributes.sourceFile())
            .map(SourceFileAttribute::sourceFile)
            .map(text -> text.stringValue())
            .orElse(simple);
    this.points = points;
    for (FieldModel field : model.fields()) {
      if (field.flags().has(AccessFlag.FINAL)) {
        constants.add(field.fieldName().stringValue());
      }
    }
  }

  /**
   * Rewrites a class.
   *
   * @param loader the loader of the class, which finds the classes that it calls
   */
  static byte[] rewrite(
      ClassFile files, @Nullable ClassLoader loader, String type, byte[] bytes, boolean points) {
    ClassModel model = files.parse(bytes);
    ProgramRewriter rewriter =
        new ProgramRewriter(model, type, points, new SynchronizedMethods(files, loader));
    byte[] result =
        files.transformClass(
            model,
            (ClassTransform)
                (builder, element) -> {
                  if (element instanceof MethodModel method && method.code().isPresent()) {
                    builder.transformMethod(
                        method, MethodTransform.transformingCode(rewriter.new OfMethod(method)));
                  } else {
                    builder.with(element);
                  }
                });
    return rewriter.changed ? result : bytes;
  }

  /** Rewrites a clock read; returns false if the call is none. */
  static boolean rewriteClock(CodeBuilder code, String owner, String name) {
    if (isClock(owner, name)) {
      code.invokestatic(CALLS, name, TO_LONG);
      return true;
    }
    return false;
  }

  /** Returns the type of the method of RewrittenCalls in place of a method; null if it stays. */
  private static @Nullable MethodTypeDesc replacement(String owner, String name) {
    if (owner.equals("java/lang/Runtime") && name.equals("availableProcessors")) {
      return MethodTypeDesc.of(CD_int, ClassDesc.of("java.lang.Runtime"));
    }
    return isClock(owner, name) ? TO_LONG : null;
  }

  private static boolean isClock(String owner, String name) {
    return owner.equals("java/lang/System")
        && (name.equals("nanoTime") || name.equals("currentTimeMillis"));
  }

  /** Returns what a call begins that is refused only if the program itself calls; else null. */
  private static @Nullable String refused(String owner, String name) {
    return switch (owner) {
      case "java/lang/foreign/Linker" ->
          name.equals("downcallHandle") ? "a native function (Linker.downcallHandle)" : null;
      case "java/lang/System", "java/lang/Runtime" ->
          name.equals("load") || name.equals("loadLibrary")
              ? "a native library (" + simpleName(owner) + "." + name + ")"
              : null;
      case "dev/weft/io/IoManager" ->
          name.equals("addEvent") || name.startsWith("await") ? "IoManager." + name : null;
      default -> null;
    };
  }

  private static String simpleName(String internalName) {
    return internalName.substring(internalName.lastIndexOf('/') + 1).replace('$', '.');
  }

  /** The changes of one method. */
  private final class OfMethod implements CodeTransform {
    private final String method;
    private final boolean initializer;
    private int line;
    private @Nullable Label begin;

    // in a constructor nothing is seen by others before the call of the superclass's constructor,
    // and the object must not be passed on before
    private boolean constructed;

    // how many new objects wait for their constructors
    private int unconstructed;
    private final boolean isSynchronized;

    OfMethod(MethodModel model) {
      this.isSynchronized = model.flags().has(AccessFlag.SYNCHRONIZED);
      this.method = model.methodName().stringValue();
      this.initializer = method.equals("<clinit>");
      this.constructed = !method.equals("<init>");
    }

    @Override
    public void atStart(CodeBuilder code) {
      if (initializer) {
        changed = true;
        code.invokestatic(CALLS, "initializerBegins", NOTHING);
        begin = code.newBoundLabel();
      }
      if (isSynchronized && hasPoints()) {
        code.aconst_null();
        point(code, "has entered synchronized " + method, "monitor", true);
      }
    }

    @Override
    public void atEnd(CodeBuilder code) {
      if (begin != null) {
        Label end = code.newBoundLabel();
        code.exceptionCatchAll(begin, end, end)
            .invokestatic(CALLS, "initializerEnds", NOTHING)
            .athrow();
      }
    }

    @Override
    public void accept(CodeBuilder code, CodeElement element) {
      switch (element) {
        case LineNumber number -> {
          line = number.line();
          code.with(number);
        }
        case InvokeInstruction call -> rewriteCall(code, call);
        case InvokeDynamicInstruction call -> rewriteReferences(code, call);
        case FieldInstruction field -> {
          if (hasPoints()) {
            beforeField(code, field);
          }
          code.with(field);
        }
        case ArrayLoadInstruction load -> {
          if (hasPoints()) {
            code.dup2().pop();
            point(code, "reads an element", load.typeKind() + "[]", false);
          }
          code.with(load);
        }
        case ArrayStoreInstruction store -> {
          if (hasPoints()) {
            int value = code.allocateLocal(store.typeKind());
            code.storeLocal(store.typeKind(), value).dup2().pop();
            point(code, "writes an element", store.typeKind() + "[]", true);
            code.loadLocal(store.typeKind(), value);
          }
          code.with(store);
        }
        case MonitorInstruction monitor -> {
          if (hasPoints() && monitor.opcode() == Opcode.MONITORENTER) {
            code.dup();
            point(code, "enters synchronized", "monitor", true);
          }
          code.with(monitor);
        }
        case NewObjectInstruction created -> {
          unconstructed++;
          code.with(created);
        }
        case ReturnInstruction end -> {
          if (initializer) {
            code.invokestatic(CALLS, "initializerEnds", NOTHING);
          }
          code.with(end);
        }
        default -> code.with(element);
      }
    }

    private boolean hasPoints() {
      return points && constructed && !initializer;
    }

    /** Adds a point; the object of the operation is on the stack, and is removed. */
    private void point(CodeBuilder code, String what, String target, boolean writes) {
      changed = true;
      int site = Sites.add(new Site(type, method, file, line, what, target, writes));
      code.loadConstant(site).invokestatic(CALLS, "point", POINT);
    }

    private void beforeField(CodeBuilder code, FieldInstruction field) {
      String owner = field.owner().asInternalName();
      String name = field.name().stringValue();
      if ((owner.equals(type) && constants.contains(name))
          || name.startsWith("$")
          || name.startsWith("this$")) {
        return;
      }
      boolean writes = field.opcode() == Opcode.PUTFIELD || field.opcode() == Opcode.PUTSTATIC;
      String target = simpleName(owner) + "." + name;
      String what = (writes ? "writes " : "reads ") + target;
      switch (field.opcode()) {
        case GETFIELD -> code.dup();
        case PUTFIELD -> {
          TypeKind kind = TypeKind.from(field.typeSymbol());
          int value = code.allocateLocal(kind);
          code.storeLocal(kind, value).dup();
          point(code, what, target, writes);
          code.loadLocal(kind, value);
          return;
        }
        default -> {
          if (owner.startsWith("java/")) {
            return;
          }
          code.aconst_null();
        }
      }
      point(code, what, target, writes);
    }

    private void rewriteCall(CodeBuilder code, InvokeInstruction call) {
      String owner = call.owner().asInternalName();
      String name = call.name().stringValue();
      MethodTypeDesc replaced = replacement(owner, name);
      if (replaced != null) {
        changed = true;
        code.invokestatic(CALLS, name, replaced);
        return;
      }
      if (owner.equals("java/lang/Thread") && name.equals("onSpinWait")) {
        changed = true;
        code.invokestatic(CALLS, "spin", NOTHING);
        return;
      }
      String refused = refused(owner, name);
      if (refused != null) {
        changed = true;
        code.loadConstant(refused)
            .invokestatic(CALLS, "refuse", MethodTypeDesc.of(CD_void, CD_String));
      }
      if (hasPoints() && isPoint(owner, name, call.type().stringValue())) {
        beforeCall(code, call, owner, name);
      }
      code.with(call);
      if (name.equals("<init>")) {
        if (unconstructed > 0) {
          unconstructed--;
        } else {
          constructed = true;
        }
      }
    }

    private boolean isPoint(String owner, String name, String signature) {
      if (name.equals("<init>")) {
        return false;
      }
      if (owner.startsWith("java/util/")) {
        return NO_POINTS.stream().noneMatch(owner::startsWith);
      }
      if (WEFT.stream().anyMatch(owner::startsWith)) {
        return true;
      }
      return switch (owner) {
        case "java/lang/Thread" -> THREAD_POINTS.contains(name);
        case "java/lang/invoke/VarHandle", "java/lang/StringBuffer" -> true;
        default -> OBJECT_POINTS.contains(name) || synchronizedMethods.has(owner, name, signature);
      };
    }

    private void beforeCall(CodeBuilder code, InvokeInstruction call, String owner, String name) {
      MethodTypeDesc signature = call.typeSymbol();
      String target = simpleName(owner);
      String what = "calls " + target + "." + name;
      boolean writes = LOOKS.stream().noneMatch(name::startsWith);
      if (call.opcode() == Opcode.INVOKESTATIC) {
        code.aconst_null();
        point(code, what, target, writes);
        return;
      }
      int[] slots = new int[signature.parameterCount()];
      for (int i = slots.length - 1; i >= 0; i--) {
        TypeKind kind = TypeKind.from(signature.parameterType(i));
        slots[i] = code.allocateLocal(kind);
        code.storeLocal(kind, slots[i]);
      }
      code.dup();
      point(code, what, target, writes);
      for (int i = 0; i < slots.length; i++) {
        code.loadLocal(TypeKind.from(signature.parameterType(i)), slots[i]);
      }
    }

    /** Rewrites references such as {@code System::nanoTime}. */
    private void rewriteReferences(CodeBuilder code, InvokeDynamicInstruction call) {
      boolean found = false;
      List<ConstantDesc> arguments = call.bootstrapArgs();
      ConstantDesc[] rewritten = arguments.toArray(new ConstantDesc[0]);
      for (int i = 0; i < rewritten.length; i++) {
        if (rewritten[i] instanceof DirectMethodHandleDesc handle) {
          MethodTypeDesc replaced = replacement(internalName(handle.owner()), handle.methodName());
          if (replaced != null) {
            rewritten[i] =
                MethodHandleDesc.ofMethod(
                    DirectMethodHandleDesc.Kind.STATIC, CALLS, handle.methodName(), replaced);
            found = true;
          }
        }
      }
      if (!found) {
        code.with(call);
        return;
      }
      changed = true;
      code.invokedynamic(
          DynamicCallSiteDesc.of(
              call.bootstrapMethod(), call.name().stringValue(), call.typeSymbol(), rewritten));
    }

    private static String internalName(ClassDesc type) {
      String descriptor = type.descriptorString();
      return descriptor.substring(1, descriptor.length() - 1);
    }
  }
}
