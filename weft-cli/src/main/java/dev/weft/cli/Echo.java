package dev.weft.cli;

import dev.weft.FiberOptions;
import dev.weft.Scheduler;
import dev.weft.net.TcpListener;
import dev.weft.net.TcpStream;
import dev.weft.net.UdpSocket;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;

/**
 * What {@code ./weft echo} starts: a server that sends back what it gets, for trying and for
 * measuring.
 */
public final class Echo {
  private static final int BUFFER = 16 * 1024;
  private static final int LARGEST_DATAGRAM = 65_535;

  private Echo() {}

  /** Serves until the process is ended. */
  public static void main(String[] args) {
    try {
      serve(EchoOptions.parse(args));
    } catch (UserMistake mistake) {
      System.err.println("weft: " + mistake.getMessage());
      System.exit(mistake.exitStatus());
    }
  }

  private static void serve(EchoOptions options) {
    if (!options.poller().isEmpty()) {
      System.setProperty("weft.poller", options.poller());
    }
    Launcher.checkProperties();
    InetSocketAddress address = new InetSocketAddress(options.address(), options.port());
    if (address.isUnresolved()) {
      throw UserMistake.usage(
          "bind must be an address of this machine, as localhost or 0.0.0.0, not "
              + options.address());
    }
    Scheduler scheduler =
        Scheduler.builder().name("echo").threads(options.threads()).build().start();
    try {
      if (options.udp()) {
        UdpSocket socket = UdpSocket.bind(address);
        say("UDP", socket.localAddress());
        scheduler.go(() -> echo(socket));
      } else if (options.reusePort()) {
        listenOnEachThread(scheduler, address);
      } else {
        TcpListener listener = TcpListener.bind(address);
        say("TCP", listener.localAddress());
        scheduler.go(() -> acceptAll(scheduler, listener));
      }
    } catch (IOException e) {
      throw UserMistake.program(e.getMessage());
    }
  }

  /** One listener for each thread, all at the same port: the system deals connections out. */
  private static void listenOnEachThread(Scheduler scheduler, InetSocketAddress address)
      throws IOException {
    InetSocketAddress shared = address;
    for (int i = 0; i < scheduler.threads(); i++) {
      TcpListener listener =
          TcpListener.builder().option(StandardSocketOptions.SO_REUSEPORT, true).bind(shared);
      if (i == 0) {
        int port = ((InetSocketAddress) listener.localAddress()).getPort();
        shared = new InetSocketAddress(address.getAddress(), port);
        say("TCP", listener.localAddress());
      }
      FiberOptions here = FiberOptions.named("acceptor-" + i).onThread(i);
      FiberOptions there = FiberOptions.named("echo").onThread(i);
      scheduler.go(
          here,
          () -> {
            while (true) {
              TcpStream stream = listener.accept();
              scheduler.go(there, () -> echo(stream));
            }
          });
    }
  }

  private static void acceptAll(Scheduler scheduler, TcpListener listener) throws IOException {
    while (true) {
      TcpStream stream = listener.accept();
      scheduler.go(() -> echo(stream));
    }
  }

  private static void echo(TcpStream stream) {
    try (stream) {
      byte[] buffer = new byte[BUFFER];
      for (int n = stream.read(buffer); n >= 0; n = stream.read(buffer)) {
        stream.write(buffer, 0, n);
      }
    } catch (IOException e) {
      // the other side has hung up: nobody is left to tell
    }
  }

  private static void echo(UdpSocket socket) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocateDirect(LARGEST_DATAGRAM);
    while (true) {
      SocketAddress sender = socket.receive(buffer.clear());
      try {
        socket.send(buffer.flip(), sender);
      } catch (IOException e) {
        System.err.println(
            "weft: " + e.getMessage()); // this sender gets no echo; the socket serves the others
      }
    }
  }

  private static void say(String protocol, SocketAddress address) {
    InetSocketAddress bound = (InetSocketAddress) address;
    System.out.printf(
        "echo: %s port %d at %s%n", protocol, bound.getPort(), bound.getAddress().getHostAddress());
  }
}
