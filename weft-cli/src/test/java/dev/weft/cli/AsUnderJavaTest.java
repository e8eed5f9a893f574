package dev.weft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Command;
import dev.weft.testkit.Feature;
import org.junit.jupiter.api.Test;

/**
 * Programs that know nothing of Weft: under {@code ./weft run}, with main as a fiber or not, they
 * print, fail and end as they do under {@code java}.
 */
@Feature("H1")
class AsUnderJavaTest extends ProgramsTest {
  @Test
  void threadsThatMainStartsKeepTheProcessAlive() throws Exception {
    assertThat(
            sameAsJava(
                """
                static class Own extends Thread {
                  Own() { super("own"); }
                  public void run() { slowly("subclass"); }
                }
                public static void main(String[] args) throws Exception {
                  new Thread(() -> slowly("plain")).start();
                  new Thread(null, () -> slowly("named"), "named").start();
                  new Own().start();
                  Thread.ofPlatform().start(() -> slowly("built"));
                  new Timer().schedule(new TimerTask() {
                    public void run() { slowly("timer"); cancel(); }
                  }, 1);
                  ExecutorService pool = Executors.newSingleThreadExecutor();
                  pool.execute(() -> slowly("pooled"));
                  pool.shutdown();
                  new Thread(() -> { slowly("first"); System.exit(9); }).start();
                }
                static void slowly(String what) {
                  LockSupport.parkNanos(300_000_000);
                  NAMES.add(what);
                  if (NAMES.size() == 7) { System.out.println(new TreeSet<>(NAMES)); }
                  while (what.equals("first") && NAMES.size() < 7) { Thread.onSpinWait(); }
                }
                static final Queue<String> NAMES = new ConcurrentLinkedQueue<>();
                """))
        .isEqualTo(
            new Command.Result(9, "[built, first, named, plain, pooled, subclass, timer]\n", ""));
  }

  @Test
  void daemonThreadsAndVirtualThreadsDoNot() throws Exception {
    assertThat(
            sameAsJava(
                """
                public static void main(String[] args) throws Exception {
                  CountDownLatch running = new CountDownLatch(6);
                  Runnable forEver = () -> { running.countDown(); LockSupport.park(); };
                  Thread daemon = new Thread(forEver);
                  daemon.setDaemon(true);
                  daemon.start();
                  Thread.ofPlatform().daemon().start(forEver);
                  Thread.startVirtualThread(forEver);
                  Thread.startVirtualThread(() -> new Thread(forEver).start());
                  Thread.startVirtualThread(() -> {
                    running.countDown();
                    try { Thread.sleep(1_000_000); } catch (InterruptedException e) { }
                  });
                  ServerSocket listener = new ServerSocket(0);
                  Thread accepting = Thread.startVirtualThread(() -> {
                    running.countDown();
                    try { listener.accept(); } catch (IOException e) { }
                  });
                  while (accepting.getState() != Thread.State.WAITING) { Thread.sleep(1); }
                  running.await();
                  System.out.println("over");
                }
                """))
        .isEqualTo(printed("over\n"));
  }

  @Test
  void virtualThreadsRunAsLongAsAThreadDoes() throws Exception {
    assertThat(
            sameAsJava(
                """
                public static void main(String[] args) throws Exception {
                  SynchronousQueue<String> queue = new SynchronousQueue<>();
                  Thread.startVirtualThread(() -> {
                    try {
                      Thread.sleep(300);
                      queue.put("from a virtual thread");
                    } catch (InterruptedException e) { throw new AssertionError(e); }
                  });
                  new Thread(() -> {
                    try {
                      System.out.println(queue.take());
                    } catch (InterruptedException e) { throw new AssertionError(e); }
                  }).start();
                }
                """,
                "--threads",
                "1"))
        .isEqualTo(printed("from a virtual thread\n"));
  }

  @Test
  void exitEndsItAndRunsTheHooks() throws Exception {
    String program =
        """
        public static void main(String[] args) throws Exception {
          Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("bye")));
          new Thread(LockSupport::park).start();
          %s
        }
        """;
    assertThat(sameAsJava(program.formatted("System.exit(3);")))
        .isEqualTo(new Command.Result(3, "bye\n", ""));
    assertThat(
            sameAsJava(
                program.formatted("Thread.startVirtualThread(() -> System.exit(4)).join();")))
        .isEqualTo(new Command.Result(4, "bye\n", ""));
    assertThat(
            sameAsJava(
                program.formatted(
                    """
                    new Thread(() -> System.exit(5)).start();
                    Thread.currentThread().join(); // as many a server does
                    """)))
        .isEqualTo(new Command.Result(5, "bye\n", ""));
  }

  @Test
  void exceptionsOfMainAreReported() throws Exception {
    Command.Result result =
        sameAsJava(
            """
            public static void main(String[] args) {
              new Thread(() -> System.out.println("a thread goes on")).start();
              try {
                inner();
              } catch (Exception e) {
                IllegalStateException outer = new IllegalStateException("outer", e);
                outer.addSuppressed(new Error("beside"));
                throw outer;
              }
            }
            static void inner() throws Exception { throw new Exception("inner"); }
            """);
    assertThat(result.exitStatus()).isEqualTo(1);
    assertThat(result.stdout()).isEqualTo("a thread goes on\n");
    assertThat(result.stderr())
        .startsWith("Exception in thread \"main\" java.lang.IllegalStateException: outer\n")
        .contains("Suppressed: java.lang.Error: beside", "Caused by: java.lang.Exception: inner");
  }

  @Test
  void exceptionsOfTheMainClassInitializerAreReported() throws Exception {
    assertThat(
            sameAsJava(
                    """
                    static final int NUMBER = Integer.parseInt("none");
                    public static void main(String[] args) { }
                    """)
                .stderr())
        .startsWith("Exception in thread \"main\" java.lang.ExceptionInInitializerError\n");
  }

  @Test
  void handlersAreAsked() throws Exception {
    String program =
        """
        public static void main(String[] args) {
          Thread.%s((thread, e) -> System.out.println(thread.getName() + ": " + e.getMessage()));
          throw new IllegalStateException("caught");
        }
        """;
    Command.Result caught = new Command.Result(1, "main: caught\n", "");
    assertThat(sameAsJava(program.formatted("setDefaultUncaughtExceptionHandler")))
        .isEqualTo(caught);
    assertThat(sameAsJava(program.formatted("currentThread().setUncaughtExceptionHandler")))
        .isEqualTo(caught);
  }

  @Test
  void mainFindsWhatItFindsUnderJava() throws Exception {
    assertThat(
            sameAsJava(
                """
                void main(String[] args) throws Exception {
                  Thread me = Thread.currentThread();
                  System.out.println(me.getName());
                  System.out.println(me.getContextClassLoader() == ClassLoader.getSystemClassLoader());
                  System.out.println(System.getProperty("sun.java.command").endsWith("Program a b"));
                  System.out.println(me.isInterrupted() + " " + List.of(args));
                  InheritableThreadLocal<String> inherited = new InheritableThreadLocal<>();
                  inherited.set("inherited");
                  Thread platform = new Thread(() -> System.out.println(inherited.get()));
                  System.out.println(platform.isDaemon() + " " + platform.getPriority());
                  platform.start();
                  platform.join();
                  Thread.startVirtualThread(() -> System.out.println(inherited.get())).join();
                }
                """))
        .isEqualTo(printed("main\ntrue\ntrue\nfalse [a, b]\nfalse 5\ninherited\ninherited\n"));
  }

  @Test
  @Feature("H10")
  void threadsHaveTheGroupsOfJava() throws Exception {
    assertThat(
            sameAsJava(
                """
                public static void main(String[] args) throws Exception {
                  report("plain", new Thread(() -> {}));
                  report("built", Thread.ofPlatform().unstarted(() -> {}));
                  ThreadGroup own = new ThreadGroup(mainGroup(), "own");
                  report("grouped", new Thread(own, () -> {}));
                  Thread[] child = new Thread[1];
                  Thread parent = new Thread(() -> child[0] = new Thread(() -> {}));
                  parent.start();
                  parent.join();
                  report("grandchild", child[0]);
                  Thread.startVirtualThread(() -> child[0] = new Thread(() -> {})).join();
                  report("of a virtual thread", child[0]);
                  report("pooled", Executors.defaultThreadFactory().newThread(() -> {}));
                  Thread listed = new Thread(LockSupport::park, "listed");
                  listed.setDaemon(true);
                  listed.start();
                  Thread[] all = new Thread[100];
                  int count = mainGroup().enumerate(all);
                  System.out.println(Arrays.asList(all).subList(0, count).contains(listed));
                }
                static ThreadGroup mainGroup() {
                  return new Thread(() -> {}).getThreadGroup();
                }
                static void report(String what, Thread thread) {
                  ThreadGroup group = thread.getThreadGroup();
                  System.out.println(what + ": " + group.getName() + " in " + group.getParent().getName());
                }
                """))
        .isEqualTo(
            printed(
                """
                plain: main in system
                built: main in system
                grouped: own in main
                grandchild: main in system
                of a virtual thread: VirtualThreads in system
                pooled: main in system
                true
                """));
  }

  @Test
  @Feature("H10")
  void contextClassLoadersAreInherited() throws Exception {
    assertThat(
            sameAsJava(
                """
                public static void main(String[] args) throws Exception {
                  ClassLoader own = new URLClassLoader(new URL[0]);
                  Thread.currentThread().setContextClassLoader(own);
                  Runnable report = () ->
                      System.out.println(Thread.currentThread().getContextClassLoader() == own);
                  Thread plain = new Thread(report);
                  plain.start();
                  plain.join();
                  Thread.startVirtualThread(report).join();
                  Thread starter = new Thread(() -> {
                    try {
                      Thread.startVirtualThread(report).join();
                    } catch (InterruptedException e) { throw new AssertionError(e); }
                  });
                  starter.start();
                  starter.join();
                  try (var handlers = Executors.newVirtualThreadPerTaskExecutor()) {
                    handlers.submit(report).get();
                  }
                }
                """))
        .isEqualTo(printed("true\ntrue\ntrue\ntrue\n"));
  }

  @Test
  void monitorsWork() throws Exception {
    assertThat(
            sameAsJava(
                """
                public static void main(String[] args) throws Exception {
                  Object lock = new Object();
                  boolean[] pinged = new boolean[1];
                  synchronized (lock) {
                    for (Thread.Builder kind : List.of(Thread.ofPlatform(), Thread.ofVirtual())) {
                      kind.start(() -> {
                        synchronized (lock) { pinged[0] = true; lock.notifyAll(); }
                      });
                      while (!pinged[0]) { lock.wait(); }
                      System.out.println("pinged " + Thread.holdsLock(lock));
                      pinged[0] = false;
                    }
                  }
                }
                """,
                "--threads",
                "1"))
        .isEqualTo(printed("pinged true\npinged true\n"));
  }

  @Test
  void theJdksHttpServerKeepsTheProcessAlive() throws Exception {
    assertThat(
            sameAsJava(
                """
                public static void main(String[] args) throws Exception {
                  var loopback = InetAddress.getLoopbackAddress();
                  var server =
                      com.sun.net.httpserver.HttpServer.create(new InetSocketAddress(loopback, 0), 0);
                  server.createContext("/", exchange -> {
                    exchange.sendResponseHeaders(200, -1);
                    exchange.close();
                  });
                  server.start();
                  URI uri = URI.create("http://localhost:" + server.getAddress().getPort() + "/");
                  Thread client = new Thread(() -> {
                    LockSupport.parkNanos(300_000_000); // when main has long returned
                    try {
                      var connection = (HttpURLConnection) uri.toURL().openConnection();
                      System.out.println(connection.getResponseCode());
                    } catch (IOException e) {
                      e.printStackTrace();
                    }
                    server.stop(0);
                  });
                  client.setDaemon(true);
                  client.start();
                }
                """))
        .isEqualTo(printed("200\n"));
  }

  @Test
  @Feature("H3")
  void twoSleepsTakeAsLongAsTheLonger() throws Exception {
    assertThat(
            sameAsJava(
                """
                public static void main(String[] args) throws Exception {
                  long start = System.nanoTime();
                  List<Thread> sleepers = new ArrayList<>();
                  for (int seconds = 2; seconds <= 3; seconds++) {
                    long millis = seconds * 1000L;
                    sleepers.add(Thread.startVirtualThread(() -> {
                      try { Thread.sleep(millis); } catch (InterruptedException e) { }
                      System.out.println("slept " + millis);
                    }));
                  }
                  for (Thread sleeper : sleepers) { sleeper.join(); }
                  long millis = (System.nanoTime() - start) / 1_000_000;
                  System.out.println(millis >= 3000 && millis < 4900 ? "3 s" : millis + " ms");
                }
                """,
                "--threads",
                "1"))
        .isEqualTo(printed("slept 2000\nslept 3000\n3 s\n"));
  }

  @Test
  void mainMayComputeAndWaitForLongWithoutAWord() throws Exception {
    assertThat(
            sameAsJava(
                """
                public static void main(String[] args) throws Exception {
                  long start = System.nanoTime();
                  while (System.nanoTime() - start < 1_500_000_000L) { }
                  CountDownLatch latch = new CountDownLatch(1);
                  new Thread(() -> {
                    LockSupport.parkNanos(1_500_000_000L);
                    latch.countDown();
                  }).start();
                  latch.await();
                  System.out.println("done");
                }
                """))
        .isEqualTo(printed("done\n"));
  }

  /** Runs a program in all ways, and returns what all of them gave. */
  private Command.Result sameAsJava(String members, String... options) throws Exception {
    programs.compile(
        "Program",
        """
        import java.io.*;
        import java.net.*;
        import java.util.*;
        import java.util.concurrent.*;
        import java.util.concurrent.locks.*;
        public class Program {
        """
            + members
            + "}");
    Command.Result plain = programs.java("-cp", ".", "Program", "a", "b").run();
    assertThat(run(options)).as("with main as a fiber").isEqualTo(plain);
    assertThat(run("--main-thread")).as("with --main-thread").isEqualTo(plain);
    return plain;
  }

  private Command.Result run(String... options) throws Exception {
    String[] words = java.util.Arrays.copyOf(options, options.length + 5);
    System.arraycopy(new String[] {"-cp", ".", "Program", "a", "b"}, 0, words, options.length, 5);
    return programs.run(words).run();
  }

  private static Command.Result printed(String stdout) {
    return new Command.Result(0, stdout, "");
  }
}
