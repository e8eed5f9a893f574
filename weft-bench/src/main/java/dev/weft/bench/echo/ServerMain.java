package dev.weft.bench.echo;

import dev.weft.bench.run.Lifeline;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.concurrent.CountDownLatch;

/** The main class of a server process. */
final class ServerMain {
  /** Starts the line that says at which port it serves. */
  static final String PORT = "@port ";

  /** The command that asks for the heap that is in use after a collection. */
  static final String ASK_HEAP = "heap";

  /** Starts the answer, in bytes. */
  static final String HEAP = "@heap ";

  private ServerMain() {}

  /** Takes the kind of server, the number of threads, and the size of a buffer. */
  public static void main(String[] args) throws IOException, InterruptedException {
    Lifeline.hold(ServerMain::obey);
    EchoServer server = EchoServer.Kind.valueOf(args[0]).create();
    System.out.println(PORT + server.start(Integer.parseInt(args[1]), Integer.parseInt(args[2])));
    new CountDownLatch(1).await(); // the lifeline ends it; virtual threads alone keep no JVM alive
  }

  private static void obey(String command) {
    if (command.equals(ASK_HEAP)) {
      System.gc();
      System.out.println(HEAP + ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
    }
  }
}
