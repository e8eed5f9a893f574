package dev.weft.internal.jdk;

import static java.lang.classfile.ClassFile.ACC_FINAL;
import static java.lang.classfile.ClassFile.ACC_PRIVATE;
import static java.lang.constant.ConstantDescs.CD_void;
import static java.lang.constant.ConstantDescs.INIT_NAME;

import java.lang.classfile.Annotation;
import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassFile;
import java.lang.classfile.attribute.RuntimeVisibleAnnotationsAttribute;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.List;
import java.util.function.Consumer;

/** Generates a class that extends a class of the JDK, to be defined in the JDK's package. */
public final class ClassInJdk {
  /** A field of the class. */
  public record Part(String name, ClassDesc type) {}

  /**
   * Tells the JIT compiler that a field keeps its value, which it believes of classes of the JDK
   * only: it then inlines calls of the fields of a constant object.
   */
  private static final RuntimeVisibleAnnotationsAttribute STABLE =
      RuntimeVisibleAnnotationsAttribute.of(
          Annotation.of(ClassDesc.of("jdk.internal.vm.annotation.Stable")));

  private ClassInJdk() {}

  /**
   * Returns a final class with these final fields and a constructor that takes them in this order.
   *
   * @param parent has a constructor without arguments
   */
  public static byte[] extending(
      ClassDesc parent, ClassDesc self, List<Part> parts, Consumer<ClassBuilder> methods) {
    return ClassFile.of()
        .build(
            self,
            type -> {
              type.withSuperclass(parent).withFlags(ACC_FINAL);
              for (Part part : parts) {
                type.withField(
                    part.name,
                    part.type,
                    field -> field.withFlags(ACC_PRIVATE | ACC_FINAL).with(STABLE));
              }
              constructor(type, parent, self, parts);
              methods.accept(type);
            });
  }

  private static void constructor(
      ClassBuilder type, ClassDesc parent, ClassDesc self, List<Part> parts) {
    type.withMethodBody(
        INIT_NAME,
        MethodTypeDesc.of(CD_void, parts.stream().map(Part::type).toList()),
        0,
        code -> {
          code.aload(0).invokespecial(parent, INIT_NAME, MethodTypeDesc.of(CD_void));
          for (int i = 0; i < parts.size(); i++) {
            Part part = parts.get(i);
            code.aload(0).aload(i + 1).putfield(self, part.name, part.type);
          }
          code.return_();
        });
  }
}
