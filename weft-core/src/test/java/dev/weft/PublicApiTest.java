package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.internal.switching.RawContinuation;
import java.io.IOException;
import java.io.InputStream;
import java.lang.annotation.Annotation;
import java.lang.module.ModuleDescriptor;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Only Weft's own exported types, types of the JDK and JSpecify's annotations may appear in the API
 * that users compile against.
 */
class PublicApiTest {
  @Test
  void onlyPublicTypesAppearInTheApi() throws Exception {
    assertThat(exportedTypes()).contains(Coroutine.class, Generator.Emitter.class);
    assertThat(exportedTypes()).flatMap(PublicApiTest::leaks).isEmpty();
  }

  @Test
  void aLeakIsFoundWhereverItIs() {
    assertThat(leaks(Leaky.class))
        .containsExactlyInAnyOrder(
            "Leaky mentions Hidden",
            "Leaky.bounded mentions RawContinuation",
            "Leaky.field mentions RawContinuation",
            "Leaky.get mentions Hidden",
            "Leaky.method mentions RawContinuation",
            "Leaky.method mentions Hidden",
            "Leaky.thrower mentions HiddenException");
  }

  static Set<String> exportedPackages() throws IOException {
    try (InputStream moduleInfo = Files.newInputStream(classes().resolve("module-info.class"))) {
      return ModuleDescriptor.read(moduleInfo).exports().stream()
          .filter(export -> !export.isQualified())
          .map(ModuleDescriptor.Exports::source)
          .collect(Collectors.toCollection(TreeSet::new));
    }
  }

  private static List<Class<?>> exportedTypes() throws Exception {
    List<Class<?>> types = new ArrayList<>();
    for (String name : exportedPackages()) {
      try (Stream<Path> files = Files.list(classes().resolve(name.replace('.', '/')))) {
        for (Path file : files.filter(f -> f.toString().endsWith(".class")).toList()) {
          String simple = file.getFileName().toString().replaceFirst("\\.class$", "");
          types.add(
              Class.forName(name + "." + simple, false, PublicApiTest.class.getClassLoader()));
        }
      }
    }
    types.removeIf(type -> !isPublic(type));
    return types;
  }

  private static Path classes() {
    return Path.of(
        URI.create(Coroutine.class.getProtectionDomain().getCodeSource().getLocation().toString()));
  }

  private static boolean isPublic(Class<?> type) {
    return visible(type.getModifiers())
        && (type.getEnclosingClass() == null || isPublic(type.getEnclosingClass()));
  }

  private static boolean visible(int modifiers) {
    return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
  }

  /** Returns a line for each forbidden type in a type's signatures. */
  private static List<String> leaks(Class<?> type) {
    List<String> leaks = new ArrayList<>();
    Set<Type> mentioned = new HashSet<>();
    mention(type.getGenericSuperclass(), mentioned);
    mention(type.getGenericInterfaces(), mentioned);
    mention(type.getTypeParameters(), mentioned);
    addLeaks(type.getSimpleName(), mentioned, leaks);
    Stream.of(type.getDeclaredFields(), type.getDeclaredConstructors(), type.getDeclaredMethods())
        .flatMap(Stream::of)
        .filter(member -> visible(((Member) member).getModifiers()))
        .filter(member -> !((Member) member).isSynthetic())
        .forEach(
            member -> {
              mentioned.clear();
              mentionMember(member, mentioned);
              addLeaks(type.getSimpleName() + "." + ((Member) member).getName(), mentioned, leaks);
            });
    return leaks;
  }

  private static void addLeaks(String where, Set<Type> mentioned, List<String> leaks) {
    for (Type type : mentioned) {
      if (type instanceof Class<?> mentionedClass && !allowed(mentionedClass)) {
        leaks.add(where + " mentions " + mentionedClass.getSimpleName());
      }
    }
  }

  private static boolean allowed(Class<?> type) {
    if (type.isPrimitive()) {
      return true;
    }
    if (type.getModule().isNamed()) { // a type of the JDK: Weft is on the class path here
      return type.getModule().isExported(type.getPackageName());
    }
    try {
      return type.getPackageName().equals("org.jspecify.annotations")
          || (isPublic(type) && exportedPackages().contains(type.getPackageName()));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static void mentionMember(AnnotatedElement member, Set<Type> mentioned) {
    for (Annotation annotation : member.getDeclaredAnnotations()) {
      mention(annotation.annotationType(), mentioned);
    }
    if (member instanceof Field field) {
      mention(field.getGenericType(), mentioned);
    }
    if (member instanceof Method method) {
      mention(method.getGenericReturnType(), mentioned);
    }
    if (member instanceof Executable executable) {
      mention(executable.getGenericParameterTypes(), mentioned);
      mention(executable.getGenericExceptionTypes(), mentioned);
      mention(executable.getTypeParameters(), mentioned);
    }
  }

  private static void mention(Type[] types, Set<Type> mentioned) {
    Stream.of(types).forEach(type -> mention(type, mentioned));
  }

  private static void mention(@Nullable Type type, Set<Type> mentioned) {
    if (type == null || !mentioned.add(type)) {
      return;
    }
    switch (type) {
      case Class<?> c when c.isArray() -> {
        mentioned.remove(c);
        mention(c.getComponentType(), mentioned);
      }
      case Class<?> c -> {}
      case GenericArrayType array -> mention(array.getGenericComponentType(), mentioned);
      case ParameterizedType generic -> {
        mention(generic.getRawType(), mentioned);
        mention(generic.getActualTypeArguments(), mentioned);
      }
      case TypeVariable<?> variable -> mention(variable.getBounds(), mentioned);
      case WildcardType wildcard -> {
        mention(wildcard.getUpperBounds(), mentioned);
        mention(wildcard.getLowerBounds(), mentioned);
      }
      default -> throw new AssertionError("a new kind of type: " + type);
    }
  }

  @SuppressWarnings("unused") // by leaks()
  public static class Leaky implements Supplier<PublicApiTest.Hidden> {
    public RawContinuation @Nullable [] field;
    private @Nullable RawContinuation fine;

    @Override
    public Hidden get() {
      throw new IllegalStateException();
    }

    protected List<? super RawContinuation> method(Set<Hidden[]> hidden) {
      throw new IllegalStateException();
    }

    public <T extends RawContinuation> void bounded(T value) {}

    public void thrower() throws HiddenException {}
  }

  static class Hidden {}

  static class HiddenException extends Exception {
    private static final long serialVersionUID = 1L;
  }
}
