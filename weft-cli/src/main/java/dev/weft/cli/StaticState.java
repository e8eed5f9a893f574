package dev.weft.cli;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.FieldModel;
import java.lang.classfile.MethodModel;
import java.lang.reflect.AccessFlag;

/** Looks for what a class keeps beyond the life of its objects. */
final class StaticState {
  private StaticState() {}

  /**
   * Returns whether a class has static fields that may change, or that its initializer sets. The
   * fields that the compiler adds do not count, nor do the constants of an enum without fields.
   */
  static boolean isIn(byte[] classFile) {
    ClassModel type = ClassFile.of().parse(classFile);
    boolean fixedEnum = type.flags().has(AccessFlag.ENUM) && !hasOwnFields(type);
    boolean initializes = type.methods().stream().anyMatch(StaticState::isInitializer);
    return type.fields().stream()
        .filter(field -> field.flags().has(AccessFlag.STATIC))
        .filter(field -> !field.flags().has(AccessFlag.SYNTHETIC))
        .anyMatch(field -> !field.flags().has(AccessFlag.FINAL) || (initializes && !fixedEnum));
  }

  private static boolean isInitializer(MethodModel method) {
    return method.methodName().equalsString("<clinit>");
  }

  private static boolean hasOwnFields(ClassModel type) {
    for (FieldModel field : type.fields()) {
      if (!field.flags().has(AccessFlag.ENUM) && !field.flags().has(AccessFlag.SYNTHETIC)) {
        return true;
      }
    }
    return false;
  }
}
