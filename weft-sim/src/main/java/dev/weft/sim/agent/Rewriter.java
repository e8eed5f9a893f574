package dev.weft.sim.agent;

import dev.weft.internal.sched.SchedulerCore;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.security.CodeSource;
import java.security.ProtectionDomain;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArraySet;
import org.jspecify.annotations.Nullable;

/**
 * Decides which classes are rewritten, and how: classes of the JDK by {@link JdkPatches}, classes
 * of the program, which are those of all other loaders, by {@link ProgramRewriter}.
 */
final class Rewriter implements ClassFileTransformer {
  /** Tools around the program, which live in real time. */
  private static final List<String> TOOLS =
      List.of(
          "org/junit/",
          "org/opentest4j/",
          "org/apiguardian/",
          "org/apache/maven/",
          "org/assertj/",
          "org/hamcrest/",
          "org/jspecify/",
          "com/intellij/",
          "org/eclipse/jdt/",
          "org/gradle/",
          "worker/org/gradle/",
          "jdk/",
          "sun/");

  /** The part of the tools that measures how long the program takes: {@code assertTimeout}. */
  private static final String ASSERT_TIMEOUT = "org/junit/jupiter/api/AssertTimeout";

  /**
   * The parts of Weft that may have points: they run in fibers, above the scheduler. A point below
   * it would stop a fiber, which the scheduler itself does, in the midst of the scheduler. The
   * table of HoldCounts has none either: its places depend on the ids of threads, which differ from
   * run to run.
   */
  private static final List<String> WEFT_WITH_POINTS =
      List.of(
          "dev/weft/channel/",
          "dev/weft/sync/",
          "dev/weft/internal/channel/",
          "dev/weft/internal/pool/",
          "dev/weft/internal/sync/LockCondition",
          "dev/weft/internal/wait/",
          "dev/weft/internal/sched/Deadline",
          "dev/weft/internal/sched/EndWaiter",
          "dev/weft/internal/sched/FiberCancel",
          "dev/weft/internal/sched/Joiners",
          "dev/weft/internal/sched/OpenBlocks",
          "dev/weft/internal/sched/ScopeCore",
          "dev/weft/internal/sched/ScopeTree",
          "dev/weft/internal/sched/Timeout",
          "dev/weft/internal/timer/OneShotTimer",
          "dev/weft/internal/timer/RecurringTimer");

  /** The parts of Weft that spin until another thread, which may have points, goes on. */
  private static final List<String> WEFT_SPINS =
      List.of("dev/weft/internal/lock/SpinLock", "dev/weft/internal/sched/Deadline");

  private final Instrumentation instrumentation;
  private final JdkPatches patches = new JdkPatches();

  // prefixes of internal names, such as com/shop, of all explorations: points stay in the code, and
  // a run passes those that its own exploration has not named
  private final Set<String> packages = new CopyOnWriteArraySet<>();
  private volatile @Nullable IllegalStateException failure;

  // by name: ./weft sim loads the classes of a program for each run, and their points stay the same
  private final Map<String, Rewritten> rewritten = new ConcurrentHashMap<>();

  /** A class before and after; null if it is not changed. */
  @SuppressWarnings("ArrayRecordComponent") // compared by hand
  private record Rewritten(byte[] before, boolean points, byte @Nullable [] after) {}

  Rewriter(Instrumentation instrumentation) {
    this.instrumentation = instrumentation;
  }

  /** Rewrites the JDK, and the clock reads of what is loaded of the program. */
  void rewriteJdk() {
    load(JdkPatches.TO_LOAD);
    load(FilePatches.CLASSES);
    load(SocketPatches.TO_LOAD);
    instrumentation.addTransformer(this, true);
    Set<Class<?>> wanted = new LinkedHashSet<>();
    for (Class<?> type : instrumentation.getAllLoadedClasses()) {
      String name = type.getName().replace('.', '/');
      if (isJdk(type.getClassLoader()) ? JdkPatches.concerns(name) : isProgram(type, name)) {
        wanted.add(type);
      }
    }
    retransform(wanted);
    List<String> missing = patches.missing();
    if (!missing.isEmpty()) {
      throw unlike("not found: " + String.join(", ", missing));
    }
  }

  private static void load(List<String> names) {
    for (String name : names) {
      try {
        Class.forName(name, false, null);
      } catch (ClassNotFoundException e) {
        throw unlike("it has no class " + name);
      }
    }
  }

  private static IllegalStateException unlike(String difference) {
    return new IllegalStateException(
        "cannot simulate on this JDK (%s): its internals differ from those of JDK 25: %s"
            .formatted(Runtime.version(), difference));
  }

  /** Puts points into these packages, and those below them, or into single classes. */
  void addPackages(Collection<String> names) {
    Set<String> added = new LinkedHashSet<>();
    for (String name : names) {
      if (name.isBlank() || name.startsWith("java.lang")) {
        throw new IllegalArgumentException(
            "cannot put points into '" + name + "': name a package of the program");
      }
      String prefix = name.replace('.', '/');
      if (packages.add(prefix)) {
        added.add(prefix);
      }
    }
    if (!added.isEmpty()) {
      Set<Class<?>> wanted = new LinkedHashSet<>();
      for (Class<?> type : instrumentation.getAllLoadedClasses()) {
        if (added.stream()
            .anyMatch(prefix -> Sites.isIn(type.getName().replace('.', '/'), prefix))) {
          wanted.add(type);
        }
      }
      retransform(wanted);
    }
    check();
  }

  /** Throws if a class could not be rewritten. */
  void check() {
    if (failure != null) {
      throw failure;
    }
  }

  private void retransform(Set<Class<?>> wanted) {
    try {
      Agent.retransform(instrumentation, wanted);
    } catch (UnmodifiableClassException e) {
      throw new IllegalStateException("cannot rewrite classes that the JVM says can be", e);
    }
    check();
  }

  private boolean hasPoints(String name, @Nullable ProtectionDomain domain) {
    if (isFrom(domain, SchedulerCore.class)
        && WEFT_WITH_POINTS.stream().noneMatch(name::startsWith)) {
      return false;
    }
    for (String prefix : packages) {
      if (Sites.isIn(name, prefix)) {
        return true;
      }
    }
    return false;
  }

  private static boolean isJdk(@Nullable ClassLoader loader) {
    return loader == null || loader == ClassLoader.getPlatformClassLoader();
  }

  private static boolean isProgram(Class<?> type, String name) {
    return !type.isArray()
        && !type.isHidden()
        && isProgram(type.getClassLoader(), name, type.getProtectionDomain());
  }

  private static boolean isProgram(
      @Nullable ClassLoader loader, String name, @Nullable ProtectionDomain domain) {
    if (isJdk(loader)) {
      return false;
    }
    for (String tool : TOOLS) {
      if (name.startsWith(tool)) {
        return name.startsWith(ASSERT_TIMEOUT);
      }
    }
    if (isFrom(domain, SchedulerCore.class)) {
      return WEFT_SPINS.stream().anyMatch(name::startsWith);
    }
    return !isFrom(domain, Agent.class);
  }

  private static boolean isFrom(@Nullable ProtectionDomain domain, Class<?> type) {
    CodeSource source = domain == null ? null : domain.getCodeSource();
    CodeSource own = type.getProtectionDomain().getCodeSource();
    return source != null
        && own != null
        && source.getLocation() != null
        && own.getLocation() != null
        && source.getLocation().toString().equals(own.getLocation().toString());
  }

  @Override
  public byte @Nullable [] transform(
      Module module,
      @Nullable ClassLoader loader,
      @Nullable String name,
      @Nullable Class<?> redefined,
      @Nullable ProtectionDomain domain,
      byte[] bytes) {
    if (name == null) {
      return null;
    }
    boolean jdk = isJdk(loader) && JdkPatches.concerns(name);
    if (name.startsWith("dev/weft/sim/boot/") || isFrom(domain, Agent.class)) {
      return null; // the simulation itself, though a package above it may be named
    }
    boolean points = hasPoints(name, domain);
    if (!jdk && !points && !isProgram(loader, name, domain)) {
      return null;
    }
    try {
      Rewritten known = rewritten.get(name);
      if (known != null && known.points == points && Arrays.equals(known.before, bytes)) {
        return known.after;
      }
      ClassFile files = ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(resolver(loader)));
      byte[] result = jdk ? patches.rewrite(files, name, bytes) : bytes;
      result =
          jdk && !points ? result : ProgramRewriter.rewrite(files, loader, name, result, points);
      byte[] after = result == bytes ? null : result;
      if (!jdk && redefined == null) {
        rewritten.put(name, new Rewritten(bytes, points, after));
      }
      return after;
    } catch (Throwable e) {
      if (jdk || points) {
        failure = new IllegalStateException("cannot rewrite the class " + name + ": " + e, e);
      }
      return null; // a class without points that cannot be parsed: the JVM loads it as it is
    }
  }

  /** By the class files: a class that is being loaded cannot be loaded once more. */
  private static ClassHierarchyResolver resolver(@Nullable ClassLoader loader) {
    return ClassHierarchyResolver.ofResourceParsing(
            loader == null ? ClassLoader.getSystemClassLoader() : loader)
        .orElse(ClassHierarchyResolver.defaultResolver());
  }
}
