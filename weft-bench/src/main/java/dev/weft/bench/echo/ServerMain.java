package dev.weft.bench.echo;

import com.sun.management.ThreadMXBean;
import dev.weft.bench.run.Lifeline;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.concurrent.CountDownLatch;

/** The main class of a server process. */
final class ServerMain {
  /** Asks for the bytes of the heap that are in use after a collection. */
  static final String HEAP = "heap";

  /** Asks for the bytes that all threads have allocated so far. */
  static final String ALLOCATED = "allocated";

  /** Starts so many computing fibers; the number follows. */
  static final String COMPUTE = "compute ";

  /** Stops the computing fibers. */
  static final String STOP = "stop";

  /** Asks for the microseconds that all computing fibers have computed. */
  static final String COMPUTED = "computed";

  private ServerMain() {}

  /** Takes the kind of server, the number of threads, and the size of a buffer. */
  public static void main(String[] args) throws IOException, InterruptedException {
    EchoServer server = create(EchoServer.Kind.valueOf(args[0]));
    Lifeline.hold(question -> obey(server, question));
    server.start(Integer.parseInt(args[1]), Integer.parseInt(args[2]));
    new CountDownLatch(1).await(); // the lifeline ends it; virtual threads alone keep no JVM alive
  }

  /** Here and not in the kind itself: {@code --against} can then compile one server alone. */
  private static EchoServer create(EchoServer.Kind kind) {
    return switch (kind) {
      case WEFT -> new WeftServer(false);
      case WEFT_LISTENERS -> new WeftServer(true);
      case BARE_EPOLL -> new BareEpollServer(false);
      case BARE_CONTINUATIONS -> new BareEpollServer(true);
      case NIO -> new NioServer();
      case VIRTUAL_THREADS -> new VirtualThreadServer();
      case GUESTS_OF_WEFT -> new GuestServer();
      case NETTY -> new NettyServer();
      case MIXED -> MixedServer.byDefault();
      case MIXED_TOGETHER -> MixedServer.together();
      case MIXED_APART -> MixedServer.apart();
      case HTTP_WEFT -> new HttpHello(HttpHello.Provider.WEFT);
      case HTTP_JDK -> new HttpHello(HttpHello.Provider.JDK);
      case HTTP_JDK_VIRTUAL -> new HttpHello(HttpHello.Provider.JDK_VIRTUAL_THREADS);
    };
  }

  /** Starts the line that answers a question with a number. */
  static String answerTo(String question) {
    return "@" + question + " ";
  }

  private static void obey(EchoServer server, String question) {
    long answer =
        switch (question) {
          case COMPUTED -> Computed.BY_FIBERS.micros();
          case STOP -> {
            Computed.BY_FIBERS.stop();
            yield 0;
          }
          case HEAP -> {
            System.gc();
            yield ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
          }
          case ALLOCATED ->
              ManagementFactory.getPlatformMXBean(ThreadMXBean.class)
                  .getTotalThreadAllocatedBytes();
          default -> {
            Computed.BY_FIBERS.start(fibersIn(question), server::compute);
            yield 0;
          }
        };
    System.out.println(answerTo(question) + answer);
  }

  private static int fibersIn(String question) {
    if (!question.startsWith(COMPUTE)) {
      throw new IllegalArgumentException("a server cannot tell " + question);
    }
    return Integer.parseInt(question.substring(COMPUTE.length()));
  }

  /** Holds the instance, which takes a while to calibrate, until a question needs it. */
  private static final class Computed {
    static final Computing BY_FIBERS = new Computing();
  }
}
