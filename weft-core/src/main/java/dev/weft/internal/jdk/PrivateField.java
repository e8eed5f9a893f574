package dev.weft.internal.jdk;

import java.lang.reflect.Field;

/** Access of the hook to a private field of the JDK. */
public final class PrivateField {
  private PrivateField() {}

  /** Returns the field, to be read and written. */
  public static Field of(Class<?> owner, String name) throws NoSuchFieldException {
    Field field = owner.getDeclaredField(name);
    field.setAccessible(true);
    return field;
  }
}
