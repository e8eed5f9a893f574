package dev.weft.bench.echo;

import dev.weft.Scheduler;
import dev.weft.bench.run.HookFlag;

/**
 * The program of blocking sockets, unmodified, with its {@code main} as a fiber; the virtual
 * threads that it starts are guests of the scheduler. {@code -Dweft.hook} says where they wait.
 */
final class GuestServer implements EchoServer {
  @Override
  public void start(int threads, int buffer) {
    Scheduler scheduler =
        Scheduler.builder().name("echo").threads(threads).daemon(true).build().start();
    HookFlag.check();
    scheduler.go(() -> SocketProgram.main(String.valueOf(buffer)));
  }
}
