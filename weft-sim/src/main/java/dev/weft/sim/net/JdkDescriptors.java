package dev.weft.sim.net;

import java.io.FileDescriptor;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/** The numbers in the JDK's descriptors, and the layouts of its structures. */
final class JdkDescriptors {
  private static final MethodHandle NUMBER;
  private static final MethodHandle SET_NUMBER;

  static {
    try {
      MethodHandles.Lookup lookup = lookup("sun.nio.ch.IOUtil");
      Class<?> type = lookup.lookupClass();
      NUMBER =
          lookup.findStatic(type, "fdVal", MethodType.methodType(int.class, FileDescriptor.class));
      SET_NUMBER =
          lookup.findStatic(
              type, "setfdVal", MethodType.methodType(void.class, FileDescriptor.class, int.class));
    } catch (ReflectiveOperationException e) {
      throw unlike(e);
    }
  }

  private JdkDescriptors() {}

  private static MethodHandles.Lookup lookup(String type) throws ReflectiveOperationException {
    return MethodHandles.privateLookupIn(Class.forName(type), MethodHandles.lookup());
  }

  private static IllegalStateException unlike(@Nullable Throwable cause) {
    return new IllegalStateException(
        "cannot simulate on this JDK (" + Runtime.version() + "): it has other sockets", cause);
  }

  static int number(FileDescriptor descriptor) {
    try {
      return (int) NUMBER.invokeExact(descriptor);
    } catch (Throwable e) {
      throw unlike(e);
    }
  }

  static void number(FileDescriptor descriptor, int number) {
    try {
      SET_NUMBER.invokeExact(descriptor, number);
    } catch (Throwable e) {
      throw unlike(e);
    }
  }

  private static int constant(String type, String name) {
    try {
      MethodHandles.Lookup lookup = lookup(type);
      VarHandle field = lookup.findStaticVarHandle(lookup.lookupClass(), name, int.class);
      return (int) field.get();
    } catch (ReflectiveOperationException e) {
      throw unlike(e);
    }
  }

  /** The layout of struct epoll_event, which is packed on some processors. */
  static final class EpollEvent {
    private static final String TYPE = "sun.nio.ch.EPoll";
    static final int SIZE = constant(TYPE, "SIZEOF_EPOLLEVENT");
    static final int EVENTS = constant(TYPE, "OFFSETOF_EVENTS");
    static final int NUMBER = constant(TYPE, "OFFSETOF_FD");

    private EpollEvent() {}
  }

  /** The layout of struct sockaddr_in and sockaddr_in6. */
  static final class SocketAddressLayout {
    private static final String TYPE = "sun.nio.ch.NativeSocketAddress";
    static final int SIZE = constant(TYPE, "SIZEOF_SOCKETADDRESS");
    static final int FAMILY = constant(TYPE, "OFFSET_FAMILY");
    static final int FAMILY_SIZE = constant(TYPE, "SIZEOF_FAMILY");
    static final int FAMILY_4 = constant(TYPE, "AF_INET");
    static final int FAMILY_6 = constant(TYPE, "AF_INET6");
    static final int PORT_4 = constant(TYPE, "OFFSET_SIN4_PORT");
    static final int PORT_6 = constant(TYPE, "OFFSET_SIN6_PORT");
    static final int ADDRESS_4 = constant(TYPE, "OFFSET_SIN4_ADDR");
    static final int ADDRESS_6 = constant(TYPE, "OFFSET_SIN6_ADDR");

    private SocketAddressLayout() {}
  }
}
