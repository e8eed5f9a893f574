package dev.weft.internal.jdk;

import static java.lang.classfile.ClassFile.ACC_FINAL;
import static java.lang.classfile.ClassFile.ACC_STATIC;
import static java.lang.constant.ConstantDescs.CD_Class;
import static java.lang.constant.ConstantDescs.CD_MethodHandles_Lookup;
import static java.lang.invoke.MethodType.methodType;

import dev.weft.internal.Unchecked;
import java.lang.classfile.ClassFile;
import java.lang.classfile.MethodBuilder;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.MethodHandles.Lookup.ClassOption;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Full access to classes of {@code java.base}, which is needed to define a nestmate of one of them.
 * Only code of that module has it, so a class is defined there that returns it:
 *
 * <pre>
 *   class WeftInside {                          // in java.lang, which Weft's flags open
 *     static Lookup of(Class&lt;?&gt; type) {
 *       return MethodHandles.privateLookupIn(type, MethodHandles.lookup());
 *     }
 *   }
 * </pre>
 */
public final class Inside {
  /** Whether Weft switches threads, not the JDK: false with {@code -Dweft.switch=jdk}. */
  public static final boolean SWITCHES = !"jdk".equals(System.getProperty("weft.switch"));

  /**
   * Whether Weft switches threads on a JDK too that no test run has seen: {@code
   * -Dweft.switch=weft}.
   */
  private static final boolean UNTESTED = "weft".equals(System.getProperty("weft.switch"));

  private static final ClassDesc SELF = ClassDesc.of("java.lang.WeftInside");
  private static final ClassDesc HANDLES = ClassDesc.of("java.lang.invoke.MethodHandles");
  private static final MethodTypeDesc LOOKUP = MethodTypeDesc.of(CD_MethodHandles_Lookup);
  private static final MethodTypeDesc OF = MethodTypeDesc.of(CD_MethodHandles_Lookup, CD_Class);
  private static final MethodTypeDesc PRIVATE_LOOKUP =
      MethodTypeDesc.of(CD_MethodHandles_Lookup, CD_Class, CD_MethodHandles_Lookup);

  private static final MethodHandle GIVE;

  static {
    RequiredFlags.check();
    try {
      Lookup lookup = MethodHandles.privateLookupIn(Thread.class, MethodHandles.lookup());
      GIVE =
          lookup.findStatic(
              lookup.defineClass(bytes()), "of", methodType(Lookup.class, Class.class));
    } catch (IllegalAccessException | NoSuchMethodException e) {
      throw new IllegalStateException("cannot find WeftInside.of, which was just defined", e);
    }
  }

  private Inside() {}

  /**
   * Checks that Weft's own switching has been tested on this build of the JDK.
   *
   * @throws UnsupportedJdk if it has not, and {@code -Dweft.switch=weft} does not ask for it
   */
  public static void checkTested() throws UnsupportedJdk {
    if (!UNTESTED) {
      TestedBuilds.check();
    }
  }

  /** Returns a lookup with the access that a class of the JDK has to itself. */
  public static Lookup of(Class<?> type) throws ReflectiveOperationException {
    try {
      return (Lookup) GIVE.invokeExact(type);
    } catch (ReflectiveOperationException e) {
      throw e;
    } catch (Throwable e) {
      throw Unchecked.rethrow(e);
    }
  }

  /**
   * Defines a class with one static method, {@code run}: a hidden nestmate of the host.
   *
   * @param name in the host's package
   * @param classData the object that {@link MethodHandles#classData} returns in its code, or null
   * @return that method
   */
  public static MethodHandle defineBeside(
      Class<?> host,
      ClassDesc name,
      MethodTypeDesc type,
      @Nullable Object classData,
      Consumer<MethodBuilder> run)
      throws ReflectiveOperationException {
    byte[] bytes =
        ClassFile.of()
            .build(
                name,
                builder -> builder.withFlags(ACC_FINAL).withMethod("run", type, ACC_STATIC, run));
    Lookup made =
        classData == null
            ? of(host).defineHiddenClass(bytes, true, ClassOption.NESTMATE)
            : of(host).defineHiddenClassWithClassData(bytes, classData, true, ClassOption.NESTMATE);
    return made.findStatic(made.lookupClass(), "run", type.resolveConstantDesc(made));
  }

  private static byte[] bytes() {
    return ClassFile.of()
        .build(
            SELF,
            type ->
                type.withMethodBody(
                    "of",
                    OF,
                    ACC_STATIC,
                    code ->
                        code.aload(0)
                            .invokestatic(HANDLES, "lookup", LOOKUP)
                            .invokestatic(HANDLES, "privateLookupIn", PRIVATE_LOOKUP)
                            .areturn()));
  }
}
