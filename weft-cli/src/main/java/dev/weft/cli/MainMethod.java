package dev.weft.cli;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
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
  private final Method method;

  // makes the object that an instance main runs on; null for a static main
  private final @Nullable Constructor<?> constructor;

  private MainMethod(Method method, @Nullable Constructor<?> constructor) {
    this.method = method;
    this.constructor = constructor;
  }

  /**
   * Finds the main method of a class.
   *
   * @throws UserMistake if it has none
   */
  static MainMethod of(Class<?> type) {
    Method main =
        find(type, String[].class)
            .or(() -> find(type))
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

  /**
   * Calls it.
   *
   * @throws InvocationTargetException with what the program threw as its cause
   */
  void invoke(String[] arguments) throws ReflectiveOperationException {
    Object target = constructor == null ? null : constructor.newInstance();
    if (method.getParameterCount() == 0) {
      method.invoke(target);
    } else {
      method.invoke(target, (Object) arguments);
    }
  }

  private static Optional<Method> find(Class<?> type, Class<?>... parameters) {
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
