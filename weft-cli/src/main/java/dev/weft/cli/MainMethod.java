package dev.weft.cli;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The method where a program starts, by the rules of Java 25 (JLS 12.1.4): {@code main(String[])},
 * else {@code main()}; static or not, inherited or not, but not private.
 */
final class MainMethod {
  private static final MethodType OF_OBJECT = MethodType.methodType(void.class, Object.class);

  // a handle, not the method: it leaves no frames in stack traces, and never a native one, which
  // would pin main to its thread
  private final MethodHandle method;
  private final boolean takesArguments;

  // makes the object that an instance main runs on; null for a static main
  private final @Nullable Constructor<?> constructor;

  private MainMethod(Method method, @Nullable Constructor<?> constructor) {
    try {
      this.method = MethodHandles.lookup().unreflect(method);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(method + " was made accessible", e);
    }
    this.takesArguments = method.getParameterCount() > 0;
    this.constructor = constructor;
  }

  /**
   * Finds the main method of a class.
   *
   * @throws UserMistake if it has none
   */
  static MainMethod of(Class<?> type) {
    Method main =
        find(type)
            .orElseThrow(
                () ->
                    UserMistake.usage(
                        "%s has no main method: give it 'void main()' or 'static void main(String[] args)'"
                            .formatted(type)));
    main.setAccessible(true);
    if (Modifier.isStatic(main.getModifiers())) {
      return new MainMethod(main, null);
    }
    return new MainMethod(main, constructor(type));
  }

  static boolean isIn(Class<?> type) {
    return find(type).isPresent();
  }

  /**
   * Calls it.
   *
   * @throws Throwable what the program threw
   */
  void invoke(String[] arguments) throws Throwable {
    if (constructor != null) {
      invokeOn(newObject(constructor), arguments);
    } else if (takesArguments) {
      method.invokeExact(arguments);
    } else {
      method.invokeExact();
    }
  }

  private void invokeOn(Object object, String[] arguments) throws Throwable {
    if (takesArguments) {
      method.asType(OF_OBJECT.appendParameterTypes(String[].class)).invokeExact(object, arguments);
    } else {
      method.asType(OF_OBJECT).invokeExact(object);
    }
  }

  private static Object newObject(Constructor<?> constructor) throws Throwable {
    return (Object)
        MethodHandles.lookup()
            .unreflectConstructor(constructor)
            .asType(MethodType.methodType(Object.class))
            .invokeExact();
  }

  private static Optional<Method> find(Class<?> type) {
    return find(type, new Class<?>[] {String[].class}).or(() -> find(type, new Class<?>[0]));
  }

  private static Optional<Method> find(Class<?> type, Class<?>[] parameters) {
    return Stream.<Class<?>>iterate(type, c -> c != null, Class::getSuperclass)
        .flatMap(c -> Stream.of(c.getDeclaredMethods()))
        .filter(m -> m.getName().equals("main"))
        .filter(m -> Arrays.equals(m.getParameterTypes(), parameters))
        .filter(m -> m.getReturnType() == void.class && !Modifier.isPrivate(m.getModifiers()))
        .findFirst();
  }

  private static Constructor<?> constructor(Class<?> type) {
    try {
      Constructor<?> constructor = type.getDeclaredConstructor();
      if (!Modifier.isPrivate(constructor.getModifiers())
          && !Modifier.isAbstract(type.getModifiers())) {
        constructor.setAccessible(true);
        return constructor;
      }
    } catch (NoSuchMethodException e) {
      // told below
    }
    throw UserMistake.usage(
        "cannot run %s: its main method is not static and it has no constructor to make it an object with: give it one that is not private and takes nothing"
            .formatted(type));
  }
}
