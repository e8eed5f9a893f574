package dev.weft;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.MethodModel;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds out which methods of Weft run in two operations: a copy of Weft's classes, in which each
 * method first calls {@link #enter}, runs them in a separate JVM.
 */
public final class PathProbe {
  /** The operation of {@link #main} that starts and joins a fiber. */
  static final String GO = "go";

  /** The operation of {@link #main} that reads from a socket and has to wait. */
  static final String READ = "read";

  private static final int WARM_UP = 50;
  private static final int ROUNDS = 40;

  private static final String[] PLACES = new String[10_000];
  private static final Thread[] THREADS = new Thread[PLACES.length];
  private static final AtomicInteger COUNT = new AtomicInteger();
  private static volatile boolean on;
  private static volatile @Nullable Thread reader;

  /** In how many rounds each method ran, in the order of the first round. */
  private static final Map<String, Integer> SEEN = new LinkedHashMap<>();

  private PathProbe() {}

  // ---- the copy of the classes ----

  /** Writes the classes below a folder, with the probe in each method, into another folder. */
  static void instrument(Path classes, Path copy) throws IOException {
    ClassFile files =
        ClassFile.of(
            ClassFile.ClassHierarchyResolverOption.of(
                ClassHierarchyResolver.ofClassLoading(PathProbe.class.getClassLoader())
                    .orElse(ClassHierarchyResolver.defaultResolver())));
    try (Stream<Path> all = Files.walk(classes)) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        Path target = copy.resolve(classes.relativize(file).toString());
        Files.createDirectories(target.getParent());
        String name = file.getFileName().toString();
        if (!name.endsWith(".class") || name.endsWith("-info.class")) {
          Files.copy(file, target);
        } else {
          ClassModel model = files.parse(file);
          Files.write(target, files.transformClass(model, withProbes(model)));
        }
      }
    }
  }

  private static ClassTransform withProbes(ClassModel model) {
    String owner = model.thisClass().asInternalName();
    return (builder, element) -> {
      if (element instanceof MethodModel method
          && method.code().isPresent()
          && !method.methodName().equalsString("<clinit>")) {
        String place = owner + "." + method.methodName().stringValue();
        builder.transformMethod(
            method,
            (in, part) -> {
              if (part instanceof CodeModel code) {
                in.transformCode(code, beginningWith(place));
              } else {
                in.with(part);
              }
            });
      } else {
        builder.with(element);
      }
    };
  }

  private static CodeTransform beginningWith(String place) {
    return new CodeTransform() {
      @Override
      public void atStart(CodeBuilder code) {
        code.ldc(place)
            .invokestatic(
                ClassDesc.of(PathProbe.class.getName()),
                "enter",
                MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_String));
      }

      @Override
      public void accept(CodeBuilder code, CodeElement element) {
        code.with(element);
      }
    };
  }

  /** Called at the beginning of each method of the copy. */
  public static void enter(String place) {
    if (on) {
      int i = COUNT.getAndIncrement();
      if (i < PLACES.length) {
        PLACES[i] = place;
        THREADS[i] = Thread.currentThread();
      }
    }
  }

  // ---- in the separate JVM ----

  /** Prints the methods that ran in at least half of the rounds of each operation. */
  public static void main(String[] args) throws Exception {
    Scheduler scheduler = Scheduler.builder().name("path").threads(1).build().start();
    for (int i = 0; i < WARM_UP + ROUNDS; i++) {
      scheduler.go(PathProbe::goAndJoin).join();
      note(i);
    }
    print(GO);
    try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Socket peer = new Socket(server.getInetAddress(), server.getLocalPort());
        Socket socket = server.accept()) {
      for (int i = 0; i < WARM_UP + ROUNDS; i++) {
        Fiber<Void> fiber = scheduler.go(() -> read(socket.getInputStream()));
        while (!hasParked() || !scheduler.stats().threads().getFirst().asleep()) {
          Thread.onSpinWait();
        }
        peer.getOutputStream().write(1);
        fiber.join();
        note(i);
      }
    }
    print(READ);
    scheduler.stop();
  }

  private static boolean hasParked() {
    Thread thread = reader;
    return thread != null && thread.getState() == Thread.State.WAITING;
  }

  private static void goAndJoin() throws InterruptedException {
    on = true;
    Weft.go(() -> {}).join();
    on = false;
  }

  private static void read(InputStream in) throws IOException {
    reader = Thread.currentThread();
    on = true;
    int got = in.read();
    on = false;
    reader = null;
    if (got != 1) {
      throw new IOException("read " + got);
    }
  }

  private static void note(int round) {
    Set<String> ran = new LinkedHashSet<>();
    for (int i = 0; i < Math.min(COUNT.get(), PLACES.length); i++) {
      if (THREADS[i].isVirtual() || THREADS[i].getName().startsWith("path")) {
        ran.add(PLACES[i]);
      }
    }
    COUNT.set(0);
    if (round >= WARM_UP) {
      ran.forEach(place -> SEEN.merge(place, 1, Integer::sum));
    }
  }

  private static void print(String operation) {
    SEEN.forEach(
        (place, rounds) -> {
          if (rounds > ROUNDS / 2) {
            System.out.println(operation + " " + place);
          }
        });
    SEEN.clear();
  }
}
