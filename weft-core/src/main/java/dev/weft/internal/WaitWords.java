package dev.weft.internal;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Words for a wait in a method of the JDK, by the stack of the waiting thread: "an element of
 * LinkedBlockingQueue". The stack is asked because a blocker of the JDK is a part of the class that
 * the program uses, such as a queue's condition, or is missing, as in {@code Thread.sleep}.
 */
public final class WaitWords {
  private static final Pattern OF_JDK = Pattern.compile("(java|javax|jdk|sun|com\\.sun)\\.");

  /** Words for waits in a method; {@code {}} is its class, or group 1 of the pattern. */
  private record Words(Pattern method, String text) {
    static Words of(String method, String text) {
      return new Words(Pattern.compile(method), text);
    }
  }

  /** The word for a sleep. */
  public static final String SLEEP = "sleep";

  private static final List<Words> ALL =
      List.of(
          Words.of("java\\.lang\\.Thread\\.sleep\\w*", SLEEP),
          Words.of("java\\.lang\\.(Thread)\\.join\\w*", "the end of {}"),
          Words.of("java\\.lang\\.(Process)\\w*\\.waitFor", "the end of {}"),
          Words.of("java\\.lang\\.Object\\.wait0?", "notify() after Object.wait()"),
          Words.of("java\\..*\\.LockSupport\\.park\\w*", "unpark() after LockSupport.park()"),
          Words.of("java\\..*\\.CountDownLatch\\.await", "the count of {}"),
          Words.of("java\\..*\\.Semaphore\\.(?:try)?[aA]cquire\\w*", "a permit of {}"),
          Words.of("java\\..*\\.ReentrantLock\\.(?:try)?[lL]ock\\w*", "the lock of {}"),
          Words.of("java\\..*\\$ReadLock\\.(?:try)?[lL]ock\\w*", "the read lock of {}"),
          Words.of("java\\..*\\$WriteLock\\.(?:try)?[lL]ock\\w*", "the write lock of {}"),
          Words.of("java\\..*\\.StampedLock\\..*[lL]ock\\w*", "the lock of {}"),
          Words.of("java\\..*\\.Abstract.*\\$(Condition)Object\\.await\\w*", "a signal of {}"),
          Words.of("java\\.util\\..*(?:Queue|Deque)\\.(?:take|poll)\\w*", "an element of {}"),
          Words.of("java\\.util\\..*(?:Queue|Deque)\\.(?:put|offer)\\w*", "room in {}"),
          Words.of("java\\..*\\.SynchronousQueue\\.put", "a taker at {}"),
          Words.of(
              "java\\..*\\.(?:FutureTask|CompletableFuture|ForkJoinTask)\\.(?:get|join)",
              "the result of {}"),
          Words.of(
              "java\\..*\\.(?:CyclicBarrier|Phaser)\\.\\w*[aA]wait\\w*", "the other parties of {}"),
          Words.of("java\\..*\\.Exchanger\\.exchange", "a partner at {}"),
          Words.of("java\\..*Executor\\w*\\.awaitTermination", "the end of {}"),
          Words.of("java\\.net\\.(ServerSocket)\\.accept", "a connection to {}"),
          Words.of("sun\\.nio\\.ch\\.(ServerSocketChannel)Impl\\.accept", "a connection to {}"),
          Words.of("java\\.net\\.Socket\\.connect", "the connection of {}"),
          Words.of("sun\\.nio\\.ch\\.(SocketChannel)Impl\\.connect", "the connection of {}"),
          Words.of("java\\.net\\.(Socket)\\$SocketInputStream\\.read", "data from {}"),
          Words.of("java\\.net\\.(Socket)\\$SocketOutputStream\\.write", "room to send by {}"),
          Words.of("sun\\.nio\\.ch\\.(\\w+Channel)Impl\\.(?:read|receive)", "data from {}"),
          Words.of("sun\\.nio\\.ch\\.(\\w+Channel)Impl\\.(?:write|send)", "room to send by {}"),
          Words.of("jdk\\.internal\\.net\\.http\\.(HttpClient)Impl\\.send", "the answer to {}"));

  private WaitWords() {}

  /** Returns whether an object is one of the JDK's: its toString() says little. */
  public static boolean isJdkObject(Object blocker) {
    return OF_JDK.matcher(blocker.getClass().getName()).lookingAt();
  }

  /**
   * Returns the words for the outermost of the JDK's frames at the top of the stack that has some;
   * else the method of the JDK that the program has called; else the innermost frame, of Weft.
   *
   * @param stack innermost frame first
   * @param blocker what the thread is parked for, which is named by its number; null to name none
   */
  public static String of(List<StackTraceElement> stack, @Nullable Object blocker) {
    String text = knownOrEmpty(stack, blocker);
    if (!text.isEmpty() || stack.isEmpty()) {
      return text;
    }
    StackTraceElement innermost = stack.getFirst();
    return isOfJdk(innermost) ? called(stack) + "() to return" : innermost.toString();
  }

  /** Returns the words for the outermost frame that has some; empty if none has. */
  public static String knownOrEmpty(List<StackTraceElement> stack, @Nullable Object blocker) {
    String text = "";
    for (StackTraceElement frame : stack) {
      if (!isOfJdk(frame)) {
        break;
      }
      String method = frame.getClassName() + "." + frame.getMethodName();
      for (Words words : ALL) {
        Matcher matcher = words.method.matcher(method);
        if (matcher.matches()) {
          String type = matcher.groupCount() > 0 ? matcher.group(1) : typeOf(frame);
          text = words.text.replace("{}", named(type, blocker));
          break;
        }
      }
    }
    return text;
  }

  private static String named(String type, @Nullable Object blocker) {
    return blocker != null
        ? type + " " + Integer.toHexString(System.identityHashCode(blocker))
        : ("AEIOU".indexOf(type.charAt(0)) >= 0 ? "an " : "a ") + type;
  }

  /** The class that a user knows: that around a nested class. */
  private static String typeOf(StackTraceElement frame) {
    String name = frame.getClassName();
    int end = name.indexOf('$');
    return name.substring(name.lastIndexOf('.') + 1, end < 0 ? name.length() : end);
  }

  private static boolean isOfJdk(StackTraceElement frame) {
    return OF_JDK.matcher(frame.getClassName()).lookingAt();
  }

  /** The method of the JDK that the program, or what runs it, has called. */
  private static String called(List<StackTraceElement> stack) {
    StackTraceElement last = stack.getFirst();
    for (StackTraceElement frame : stack) {
      boolean runsAll =
          frame.getClassName().equals("java.lang.VirtualThread")
              && frame.getMethodName().equals("run");
      if (runsAll || !isOfJdk(frame)) {
        break;
      }
      last = frame;
    }
    return typeOf(last) + "." + last.getMethodName();
  }
}
