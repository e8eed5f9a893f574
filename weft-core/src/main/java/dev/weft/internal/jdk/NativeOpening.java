package dev.weft.internal.jdk;

import static java.lang.classfile.ClassFile.ACC_FINAL;
import static java.lang.classfile.ClassFile.ACC_STATIC;
import static java.lang.constant.ConstantDescs.CD_Class;
import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_String;
import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_void;
import static java.lang.constant.ConstantDescs.CLASS_INIT_NAME;

import dev.weft.internal.Uninterrupted;
import java.lang.System.Logger.Level;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import org.jspecify.annotations.Nullable;

/**
 * Opens packages of {@code java.base} to Weft in a JVM that was started without Weft's flags:
 * decision 0090. Only code of {@code java.lang} may do that, so native access puts a class there.
 * The initializer of that class does it, once:
 *
 * <pre>
 *   final class WeftOpening… {
 *     static {
 *       Thread opener = Thread.currentThread();
 *       Module weft =
 *           Class.forName("dev.weft…RequiredFlags", false, opener.getContextClassLoader()).getModule();
 *       Module base = Object.class.getModule();
 *       base.implAddExports("jdk.internal.vm", weft);
 *       base.implAddOpens("java.lang", weft);
 *       …
 *     }
 *   }
 * </pre>
 *
 * <p>The class has no method that other code could call to open something to itself. A thread of
 * its own runs all of this: it passes Weft's class loader to the initializer, and it is a platform
 * thread, though a virtual thread may be the first to use Weft. That thread must not need a class
 * of Weft that its creator is just initializing.
 */
final class NativeOpening {
  private static final ClassDesc THREAD = ClassDesc.of("java.lang.Thread");
  private static final ClassDesc MODULE = ClassDesc.of("java.lang.Module");
  private static final ClassDesc CLASS_LOADER = ClassDesc.of("java.lang.ClassLoader");
  private static final MethodTypeDesc FOR_NAME =
      MethodTypeDesc.of(CD_Class, CD_String, CD_boolean, CLASS_LOADER);
  private static final MethodTypeDesc ADD = MethodTypeDesc.of(CD_void, CD_String, MODULE);

  private NativeOpening() {}

  /**
   * Opens what {@link RequiredFlags} names, unless {@code -Dweft.open=flags} forbids it, and logs
   * that. Threads that call this at the same time return when all is open.
   *
   * @return why it is not open; null if it is
   */
  static @Nullable String open() {
    String way = System.getProperty("weft.open", "native");
    if (!way.equals("native")) {
      return way.equals("flags")
          ? "-Dweft.open=flags forbids it"
          : "weft.open must be native or flags, not " + way;
    }
    synchronized (NativeOpening.class) {
      if (RequiredFlags.areEnough()) {
        return null; // another thread was first
      }
      Throwable failure = openInThread();
      if (failure != null) {
        Throwable cause = failure.getCause(); // such as that of an error in the initializer
        return cause == null ? failure.toString() : failure + ", caused by " + cause;
      }
    }
    System.getLogger("dev.weft")
        .log(
            Level.INFO,
            "Weft has opened packages of java.base to itself, by native access. JVM flags do it"
                + " instead: "
                + String.join(" ", RequiredFlags.list())
                + "; -Dweft.open=flags forbids it");
    return null;
  }

  private static @Nullable Throwable openInThread() {
    Throwable[] failure = new Throwable[1];
    try {
      Thread opener =
          Thread.ofPlatform()
              .name("weft-opening")
              .daemon()
              .inheritInheritableThreadLocals(false)
              .unstarted(
                  () -> {
                    try {
                      openHere();
                    } catch (Throwable e) {
                      failure[0] = e;
                    }
                  });
      opener.setContextClassLoader(RequiredFlags.class.getClassLoader());
      opener.start();
      Uninterrupted.await(opener::join);
    } catch (OutOfMemoryError e) { // no thread
      return e;
    }
    return failure[0];
  }

  private static void openHere() throws Throwable {
    // a name of its own for each copy of Weft in this JVM: the boot loader has one class of a name
    ClassDesc name = ClassDesc.of("java.lang", "WeftOpening" + System.nanoTime());
    BootClasses.define("java/lang/" + name.displayName(), bytes(name));
    Class.forName("java.lang." + name.displayName(), true, null);
  }

  private static byte[] bytes(ClassDesc name) {
    return ClassFile.of()
        .build(
            name,
            type ->
                type.withFlags(ACC_FINAL)
                    .withMethodBody(
                        CLASS_INIT_NAME,
                        MethodTypeDesc.of(CD_void),
                        ACC_STATIC,
                        NativeOpening::initializer));
  }

  private static void initializer(CodeBuilder code) {
    int weft = 0;
    int base = 1;
    code.loadConstant(RequiredFlags.class.getName())
        .iconst_0()
        .invokestatic(THREAD, "currentThread", MethodTypeDesc.of(THREAD))
        .invokevirtual(THREAD, "getContextClassLoader", MethodTypeDesc.of(CLASS_LOADER))
        .invokestatic(CD_Class, "forName", FOR_NAME)
        .invokevirtual(CD_Class, "getModule", MethodTypeDesc.of(MODULE))
        .astore(weft)
        .loadConstant(CD_Object)
        .invokevirtual(CD_Class, "getModule", MethodTypeDesc.of(MODULE))
        .astore(base);
    for (String exported : RequiredFlags.EXPORTED) {
      code.aload(base)
          .loadConstant(exported)
          .aload(weft)
          .invokevirtual(MODULE, "implAddExports", ADD);
    }
    for (String opened : RequiredFlags.OPENED) {
      code.aload(base).loadConstant(opened).aload(weft).invokevirtual(MODULE, "implAddOpens", ADD);
    }
    code.return_();
  }
}
