package dev.weft.internal.net;

import dev.weft.internal.poller.LinuxCalls;
import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketException;

/** Errors of sockets as the exceptions that Java has for them, with what was being done. */
public final class NetErrors {
  private NetErrors() {}

  /** Returns the exception for an error number; {@code doing} is as in "connect to /[::1]:80". */
  static IOException of(int errno, String doing) {
    String message = "cannot " + doing + ": " + LinuxCalls.describe(errno);
    return switch (errno) {
      case LinuxCalls.ECONNREFUSED,
          LinuxCalls.ETIMEDOUT,
          LinuxCalls.ENETUNREACH,
          LinuxCalls.ENOENT ->
          new ConnectException(message);
      case LinuxCalls.EHOSTUNREACH -> new NoRouteToHostException(message);
      case LinuxCalls.EADDRINUSE, LinuxCalls.EADDRNOTAVAIL, LinuxCalls.EACCES ->
          new BindException(message);
      default -> new SocketException(message);
    };
  }

  /** Returns the exception for an error number of a bind. */
  static IOException ofBind(int errno, String doing) {
    return errno == LinuxCalls.ENOENT
        ? new BindException("cannot " + doing + ": " + LinuxCalls.describe(errno))
        : of(errno, doing);
  }

  /** Returns the JDK's exception with what was being done, which it does not say. */
  public static IOException explained(IOException e, String doing) {
    String message = "cannot " + doing + ": " + e.getMessage();
    IOException explained =
        switch (e) {
          case ConnectException x -> new ConnectException(message);
          case BindException x -> new BindException(message);
          case NoRouteToHostException x -> new NoRouteToHostException(message);
          case SocketException x when x.getClass() == SocketException.class ->
              new SocketException(message);
          default -> e.getClass() == IOException.class ? new SocketException(message) : e;
        };
    if (explained != e) {
      explained.initCause(e);
    }
    return explained;
  }

  /** Loads what is needed when there is no descriptor for loading it. */
  static void load() {
    Exhausted _ = new Exhausted("");
  }

  /** Returns whether the process or the machine is out of descriptors or memory for them. */
  static boolean isExhaustion(int errno) {
    return errno == LinuxCalls.EMFILE
        || errno == LinuxCalls.ENFILE
        || errno == LinuxCalls.ENOBUFS
        || errno == LinuxCalls.ENOMEM;
  }

  /** Thrown by accept when there is no descriptor for the connection, which stays in line. */
  static final class Exhausted extends SocketException {
    private static final long serialVersionUID = 1L;

    Exhausted(String message) {
      super(message);
    }
  }
}
