package dev.weft.bench.against;

import dev.weft.bench.model.EntryPoint;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.AccessFlags;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeElement;
import java.lang.classfile.MethodModel;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.classfile.instruction.ConstantInstruction;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.NewObjectInstruction;
import java.lang.classfile.instruction.NewReferenceArrayInstruction;
import java.lang.classfile.instruction.TypeCheckInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDesc;
import java.lang.constant.DirectMethodHandleDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.AccessFlag;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Finds out whether benchmark code, as it is compiled here, links with another build of Weft: it
 * follows calls from an entry point through the benchmarks' own methods, and looks up each class,
 * method and field of Weft that they name. The JVM would find the same, but only while it runs, in
 * a fiber perhaps, and the benchmark would then wait for that fiber for ever.
 *
 * <p>The check reaches the methods that are called by name, and all methods of each class of which
 * an object is made. So a method of a benchmark may use what the other build lacks, if the measured
 * method does not call it.
 */
final class LinkCheck {
  private static final String BENCHMARKS = "dev/weft/bench/";
  private static final String WEFT = "dev/weft/";

  private final URLClassLoader library;
  private final Map<String, Optional<ClassModel>> models = new HashMap<>();

  // of one check: methods yet to be looked at, those that were, classes of which objects are made
  private final Deque<Place> waiting = new ArrayDeque<>();
  private final Set<Place> reached = new HashSet<>();
  private final Set<String> made = new HashSet<>();
  private final List<String> missing = new ArrayList<>();

  private record Place(String owner, String name, String type) {}

  /** Prepares to look things up in these jars. */
  LinkCheck(List<Path> jars) {
    URL[] places =
        jars.stream()
            .map(
                jar -> {
                  try {
                    return jar.toUri().toURL();
                  } catch (MalformedURLException e) {
                    throw new UncheckedIOException(e);
                  }
                })
            .toArray(URL[]::new);
    library = new URLClassLoader(places, null);
  }

  /** Returns what the code that begins there needs and the build lacks, for people. */
  List<String> missing(EntryPoint entry) {
    waiting.clear();
    reached.clear();
    made.clear();
    missing.clear();
    String owner = entry.owner().getName().replace('.', '/');
    if (entry.method().isEmpty()) {
      make(owner);
    } else {
      enterMethod(owner, entry.method());
    }
    while (!waiting.isEmpty()) {
      Place place = waiting.remove();
      model(place.owner()).ifPresent(owned -> look(owned, place));
    }
    return missing.stream().distinct().toList();
  }

  /** A method that is called by reflection: its owner and its states are made for it. */
  private void enterMethod(String owner, String name) {
    for (MethodModel method : model(owner).orElseThrow().methods()) {
      if (method.methodName().equalsString(name)) {
        reach(owner, method);
        method.methodTypeSymbol().parameterList().stream()
            .filter(ClassDesc::isClassOrInterface)
            .forEach(state -> make(nameOf(state)));
      } else if (method.methodName().stringValue().startsWith("<")) {
        reach(owner, method);
      }
    }
  }

  private void look(ClassModel owner, Place place) {
    for (MethodModel method : owner.methods()) {
      if (method.methodName().equalsString(place.name())
          && method.methodType().equalsString(place.type())) {
        method
            .code()
            .ifPresent(
                code -> {
                  code.forEach(this::look);
                  code.exceptionHandlers()
                      .forEach(handler -> handler.catchType().ifPresent(this::use));
                });
      }
    }
  }

  private void look(CodeElement element) {
    switch (element) {
      case InvokeInstruction call ->
          call(
              call.owner().asInternalName(),
              call.name().stringValue(),
              call.typeSymbol(),
              call.isInterface());
      case FieldInstruction access -> access(access);
      case InvokeDynamicInstruction lambda -> look(lambda);
      case NewObjectInstruction creation -> make(creation.className().asInternalName());
      case NewReferenceArrayInstruction array -> use(array.componentType());
      case TypeCheckInstruction check -> use(check.type());
      case ConstantInstruction.LoadConstantInstruction load -> use(load.constantValue());
      default -> {}
    }
  }

  /** A lambda implements the method of an interface, which must be there as it was. */
  private void look(InvokeDynamicInstruction lambda) {
    lambda.bootstrapArgs().forEach(this::use);
    ClassDesc implemented = lambda.typeSymbol().returnType();
    if (implemented.isClassOrInterface()
        && isOfWeft(nameOf(implemented))
        && lambda.bootstrapArgs().getFirst() instanceof MethodTypeDesc type) {
      call(nameOf(implemented), lambda.name().stringValue(), type, true);
    }
  }

  private void use(ConstantDesc constant) {
    switch (constant) {
      case DirectMethodHandleDesc handle -> use(handle);
      case ClassDesc type when type.isClassOrInterface() -> use(nameOf(type));
      default -> {}
    }
  }

  /** A lambda's body, or a method reference. */
  private void use(DirectMethodHandleDesc handle) {
    String owner = nameOf(handle.owner());
    if (handle.kind() == DirectMethodHandleDesc.Kind.CONSTRUCTOR) {
      make(owner);
    }
    if (handle.lookupDescriptor().startsWith("(")) { // else it is a record's own field
      MethodTypeDesc type = MethodTypeDesc.ofDescriptor(handle.lookupDescriptor());
      call(owner, handle.methodName(), type, handle.isOwnerInterface());
    }
  }

  private void use(ClassEntry type) {
    if (!type.asInternalName().startsWith("[")) {
      use(type.asInternalName());
    }
  }

  /** A class that is named must be there. */
  private boolean use(String type) {
    if (isOfWeft(type) && model(type).isEmpty()) {
      missing.add("class " + type.replace('/', '.'));
      return false;
    }
    return true;
  }

  /** An object of the class is made: each of its methods may be called. */
  private void make(String type) {
    if (!use(type) || !type.startsWith(BENCHMARKS) || !made.add(type)) {
      return;
    }
    ClassModel model = model(type).orElseThrow();
    model.methods().forEach(method -> reach(type, method));
    model.superclass().ifPresent(parent -> make(parent.asInternalName()));
    model.interfaces().forEach(parent -> make(parent.asInternalName()));
  }

  private void reach(String owner, MethodModel method) {
    Place place =
        new Place(owner, method.methodName().stringValue(), method.methodType().stringValue());
    if (reached.add(place)) {
      waiting.add(place);
    }
  }

  private void call(String owner, String name, MethodTypeDesc type, boolean ownerIsInterface) {
    if (owner.startsWith(BENCHMARKS)) {
      reachCalled(owner, name, type);
    } else if (isOfWeft(owner) && use(owner)) {
      ClassModel model = model(owner).orElseThrow();
      String simple = owner.substring(owner.lastIndexOf('/') + 1).replace('$', '.');
      if (model.flags().has(AccessFlag.INTERFACE) != ownerIsInterface) {
        missing.add(simple + " as " + (ownerIsInterface ? "an interface" : "a class"));
      } else if (!hasMethod(owner, name, type)) {
        String parameters =
            type.parameterList().stream()
                .map(ClassDesc::displayName)
                .collect(Collectors.joining(", ", "(", ")"));
        missing.add(
            name.equals("<init>")
                ? "new " + simple + parameters
                : simple + "." + name + parameters);
      }
    }
  }

  /** Follows a call of a benchmark's own method, which a class above may have. */
  private void reachCalled(String owner, String name, MethodTypeDesc type) {
    ClassModel model = model(owner).orElseThrow();
    boolean found = false;
    for (MethodModel method : model.methods()) {
      boolean called =
          method.methodName().equalsString(name) && method.methodTypeSymbol().equals(type);
      found |= called;
      if (called || method.methodName().equalsString("<clinit>")) {
        reach(owner, method);
      }
    }
    if (!found) {
      model.superclass().ifPresent(parent -> call(parent.asInternalName(), name, type, false));
    }
  }

  private void access(FieldInstruction access) {
    String owner = access.owner().asInternalName();
    if (owner.startsWith(BENCHMARKS)) {
      model(owner).orElseThrow().methods().stream()
          .filter(method -> method.methodName().equalsString("<clinit>"))
          .forEach(method -> reach(owner, method));
    } else if (isOfWeft(owner)
        && use(owner)
        && model(owner).orElseThrow().fields().stream()
            .noneMatch(
                field ->
                    field.fieldName().equals(access.name())
                        && field.fieldType().equals(access.type()))) {
      missing.add(owner.substring(owner.lastIndexOf('/') + 1) + "." + access.name().stringValue());
    }
  }

  /** Looks for a method in a class of the other build, and in those above it. */
  private boolean hasMethod(String owner, String name, MethodTypeDesc type) {
    if (!isOfWeft(owner)) {
      return jdkHasMethod(owner, name);
    }
    ClassModel model = model(owner).orElseThrow();
    if (model.methods().stream()
        .anyMatch(
            method ->
                method.methodName().equalsString(name)
                    && method.methodTypeSymbol().equals(type)
                    && isAccessible(method.flags()))) {
      return true;
    }
    return !name.equals("<init>")
        && (model.superclass().filter(up -> hasMethod(up.asInternalName(), name, type)).isPresent()
            || model.interfaces().stream()
                .anyMatch(up -> hasMethod(up.asInternalName(), name, type)));
  }

  private static boolean isAccessible(AccessFlags flags) {
    return flags.has(AccessFlag.PUBLIC) || flags.has(AccessFlag.PROTECTED);
  }

  /** By name alone: the JDK is the same for both builds. */
  private static boolean jdkHasMethod(String owner, String name) {
    try {
      Class<?> type = Class.forName(owner.replace('/', '.'), false, null);
      return Arrays.stream(type.getMethods()).anyMatch(each -> each.getName().equals(name));
    } catch (ClassNotFoundException e) {
      return true; // a library of Weft's, which comes with it
    }
  }

  private static boolean isOfWeft(String type) {
    return type.startsWith(WEFT) && !type.startsWith(BENCHMARKS);
  }

  private static String nameOf(ClassDesc type) {
    String descriptor = type.descriptorString();
    return descriptor.substring(1, descriptor.length() - 1);
  }

  private Optional<ClassModel> model(String type) {
    return models.computeIfAbsent(type, this::read);
  }

  private Optional<ClassModel> read(String type) {
    ClassLoader place = isOfWeft(type) ? library : LinkCheck.class.getClassLoader();
    try (InputStream in = place.getResourceAsStream(type + ".class")) {
      return in == null ? Optional.empty() : Optional.of(ClassFile.of().parse(in.readAllBytes()));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + type, e);
    }
  }
}
