package dev.weft.sim.agent;

import java.io.FileDescriptor;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** What the simulation has to know of open files, and the JDK keeps to itself. */
public final class Descriptors {
  private static final MethodHandle SEEK;
  private static final MethodHandle CLOSE;

  static {
    try {
      Class<?> dispatcher = Class.forName("sun.nio.ch.UnixFileDispatcherImpl");
      Agent.open(dispatcher);
      Agent.open(FileDescriptor.class);
      SEEK =
          MethodHandles.privateLookupIn(dispatcher, MethodHandles.lookup())
              .findStatic(
                  dispatcher,
                  "seek0",
                  MethodType.methodType(long.class, FileDescriptor.class, long.class));
      CLOSE =
          MethodHandles.privateLookupIn(FileDescriptor.class, MethodHandles.lookup())
              .findVirtual(FileDescriptor.class, "close", MethodType.methodType(void.class));
    } catch (Throwable e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private Descriptors() {}

  /** Returns the position at which the next read or write of a file begins. */
  public static long position(FileDescriptor file) throws IOException {
    try {
      return (long) SEEK.invokeExact(file, -1L);
    } catch (IOException | RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  /** Closes a file, though the program has not; nothing happens if it is closed. */
  public static void close(FileDescriptor file) {
    try {
      CLOSE.invokeExact(file);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      // An IOException of close: the descriptor is gone all the same.
    }
  }
}
