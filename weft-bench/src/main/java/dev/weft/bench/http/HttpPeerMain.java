package dev.weft.bench.http;

import dev.weft.bench.run.Lifeline;
import java.util.concurrent.CountDownLatch;

/** The main class of the process of a web server. */
final class HttpPeerMain {
  private HttpPeerMain() {}

  /** Takes the server, the number of threads, and what handlers do. */
  public static void main(String[] args) throws InterruptedException {
    Lifeline.hold(question -> {});
    try {
      int port =
          HttpPeer.valueOf(args[0]).start(Integer.parseInt(args[1]), HttpWork.valueOf(args[2]));
      System.out.println(ServerPort.LINE + port);
    } catch (Exception e) {
      e.printStackTrace();
      System.exit(1); // or the threads of the server would keep the process
    }
    new CountDownLatch(1).await(); // the lifeline ends it
  }
}
