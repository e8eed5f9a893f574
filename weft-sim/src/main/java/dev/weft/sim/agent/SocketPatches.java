package dev.weft.sim.agent;

import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_int;

import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.Opcode;
import java.lang.classfile.TypeKind;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The calls of {@code sun.nio.ch} into the operating system that go to the simulated network. The
 * JDK's own code above them stays: its locks, timeouts, interrupts, selectors and channels are the
 * real ones.
 *
 * <pre>
 *   int n = nd.read(fd, address, length);      becomes
 *   int n = RewrittenSockets.isSimulated(fd)
 *             ? RewrittenSockets.read(fd, address, length) : nd.read(fd, address, length);
 * </pre>
 *
 * <p>A native cannot be rewritten after its class is loaded, so each call of it is.
 */
final class SocketPatches {
  private static final ClassDesc SOCKETS = ClassDesc.of("dev.weft.sim.boot.RewrittenSockets");
  private static final ClassDesc DESCRIPTOR = ClassDesc.of("java.io.FileDescriptor");

  /** The call makes a descriptor: it is redirected inside a simulation. */
  private static final int MAKES = -1;

  /** The calls, with the index of the argument that is the descriptor. */
  private static final Map<String, Integer> CALLS =
      Map.ofEntries(
          Map.entry("Net.socket0", MAKES),
          Map.entry("Net.bind0", 0),
          Map.entry("Net.listen", 0),
          Map.entry("Net.connect0", 1),
          Map.entry("Net.pollConnect", 0),
          Map.entry("Net.accept", 0),
          Map.entry("Net.shutdown", 0),
          Map.entry("Net.localPort", 0),
          Map.entry("Net.localInetAddress", 0),
          Map.entry("Net.remotePort", 0),
          Map.entry("Net.remoteInetAddress", 0),
          Map.entry("Net.getIntOption0", 0),
          Map.entry("Net.setIntOption0", 0),
          Map.entry("Net.poll", 0),
          Map.entry("Net.available", 0),
          Map.entry("Net.sendOOB", 0),
          Map.entry("ExtendedSocketOptions.setOption", 0),
          Map.entry("ExtendedSocketOptions.getOption", 0),
          Map.entry("IOUtil.configureBlocking", 0),
          Map.entry("NativeDispatcher.read", 0),
          Map.entry("NativeDispatcher.readv", 0),
          Map.entry("NativeDispatcher.write", 0),
          Map.entry("NativeDispatcher.writev", 0),
          Map.entry("NativeDispatcher.preClose", 0),
          Map.entry("NativeDispatcher.close", 0),
          Map.entry("DatagramChannelImpl.receive0", 0),
          Map.entry("DatagramChannelImpl.send0", 0),
          Map.entry("DatagramChannelImpl.disconnect0", 0),
          Map.entry("Poller.poll", 0),
          Map.entry("Poller.stopPoll", 0));

  /** Those of selectors, which differ from system to system. */
  private static final Map<String, Integer> EPOLL_CALLS =
      Map.of(
          "Poller.pollSelector", 0,
          "EPoll.create", MAKES,
          "EPoll.ctl", 0,
          "EPoll.wait", 0,
          "EventFD.eventfd0", MAKES,
          "EventFD.set0", 0,
          "IOUtil.drain", 0,
          "FileDispatcherImpl.closeIntFD", 0);

  /** What is refused, by the method that begins it. */
  private static final Map<String, String> REFUSED =
      Map.of(
          "UnixDomainSockets.socket", "a Unix-domain socket",
          "AsynchronousChannelGroupImpl.<init>", "an asynchronous channel",
          "PipeImpl.<init>", "a Pipe",
          "DatagramChannelImpl.innerJoin", "multicast",
          "KQueueSelectorImpl.<init>", "a Selector of this operating system",
          "WEPollSelectorImpl.<init>", "a Selector of this operating system");

  private static final boolean LINUX = System.getProperty("os.name").equals("Linux");

  /** The classes that make these calls. */
  static final List<String> TO_LOAD = toLoad();

  private static final Set<String> CLASSES = classes();

  private SocketPatches() {}

  private static Set<String> classes() {
    Set<String> names = new HashSet<>();
    for (String name : TO_LOAD) {
      names.add(name.replace('.', '/'));
    }
    for (String method : REFUSED.keySet()) {
      names.add("sun/nio/ch/" + method.substring(0, method.indexOf('.')));
    }
    return names;
  }

  private static List<String> toLoad() {
    List<String> names =
        new ArrayList<>(
            List.of(
                "java.net.InetAddress",
                "sun.nio.ch.Net",
                "sun.nio.ch.IOUtil",
                "sun.nio.ch.NativeDispatcher",
                "sun.nio.ch.NioSocketImpl",
                "sun.nio.ch.SelChImpl",
                "sun.nio.ch.SocketChannelImpl",
                "sun.nio.ch.ServerSocketChannelImpl",
                "sun.nio.ch.DatagramChannelImpl",
                "sun.nio.ch.SelectorImpl"));
    if (LINUX) {
      names.addAll(List.of("sun.nio.ch.EPollSelectorImpl", "sun.nio.ch.EventFD"));
    }
    return List.copyOf(names);
  }

  /** Returns the names of the patches without which the network cannot be simulated. */
  static Set<String> expected() {
    Set<String> names = new TreeSet<>(CALLS.keySet());
    if (LINUX) {
      names.addAll(EPOLL_CALLS.keySet());
    }
    names.addAll(
        Set.of(
            "InetAddress.getAllByName0",
            "InetAddress.getLocalHost",
            "InetAddress.getHostFromNameService",
            "SelectorImpl: order"));
    return names;
  }

  static boolean concerns(String name) {
    return CLASSES.contains(name);
  }

  /** Returns what a method begins that is refused; null if it is not. */
  static @Nullable String refused(String method) {
    return REFUSED.get(method);
  }

  /** Redirects a call; returns the name of the patch, or null if the call stays as it is. */
  static @Nullable String redirect(CodeBuilder code, String caller, InvokeInstruction call) {
    String owner = call.owner().asInternalName();
    String name = owner.substring(owner.lastIndexOf('/') + 1) + "." + call.name().stringValue();
    Integer at = CALLS.getOrDefault(name, EPOLL_CALLS.get(name));
    if (at == null || isOther(name, caller, call)) {
      return null;
    }
    MethodTypeDesc type = call.typeSymbol();
    int[] slots = new int[type.parameterCount()];
    for (int i = slots.length - 1; i >= 0; i--) {
      TypeKind kind = TypeKind.from(type.parameterType(i));
      slots[i] = code.allocateLocal(kind);
      code.storeLocal(kind, slots[i]);
    }
    int receiver = -1;
    if (call.opcode() != Opcode.INVOKESTATIC) {
      receiver = code.allocateLocal(TypeKind.REFERENCE);
      code.astore(receiver);
    }
    Label real = code.newLabel();
    Label end = code.newLabel();
    if (at == MAKES) {
      code.invokestatic(JdkPatches.CALLS, "inside", MethodTypeDesc.of(CD_boolean));
    } else {
      ClassDesc descriptor = type.parameterType(at).equals(CD_int) ? CD_int : DESCRIPTOR;
      code.loadLocal(TypeKind.from(descriptor), slots[at])
          .invokestatic(SOCKETS, "isSimulated", MethodTypeDesc.of(CD_boolean, descriptor));
    }
    code.ifeq(real);
    load(code, type, slots);
    code.invokestatic(SOCKETS, call.name().stringValue(), type).goto_(end).labelBinding(real);
    if (receiver >= 0) {
      code.aload(receiver);
    }
    load(code, type, slots);
    code.with(call).labelBinding(end);
    return name;
  }

  /** Returns whether a call only has the name of one that is redirected. */
  private static boolean isOther(String name, String caller, InvokeInstruction call) {
    return switch (name) {
      case "Poller.poll" -> call.opcode() != Opcode.INVOKESTATIC;
      case "EPoll.create" -> !caller.equals("EPollSelectorImpl"); // the JDK's own pollers are real
      case "Net.poll", "Net.shutdown", "Net.listen", "Net.accept", "Net.available" ->
          !call.typeSymbol().parameterType(0).equals(DESCRIPTOR);
      default -> false;
    };
  }

  private static void load(CodeBuilder code, MethodTypeDesc type, int[] slots) {
    for (int i = 0; i < slots.length; i++) {
      code.loadLocal(TypeKind.from(type.parameterType(i)), slots[i]);
    }
  }
}
