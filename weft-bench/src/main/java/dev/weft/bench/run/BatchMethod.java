package dev.weft.bench.run;

import dev.weft.bench.model.EntryPoint;
import dev.weft.bench.model.InTurns;
import dev.weft.bench.model.Metric;
import dev.weft.bench.model.Outcome;
import dev.weft.bench.model.Trial;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;

/**
 * Measures the average time of one operation of a JMH benchmark method, as {@link JmhMethod} does,
 * but in turns with its peers. For methods of which one call takes a millisecond or more, such as
 * one that starts fibers and joins them: such a call needs none of JMH's care for nanoseconds, and
 * JMH would measure two contestants minutes apart.
 *
 * <p>The method and its states are made as JMH makes them: a parameter of the comparison is the
 * {@code @Param} field of a state. Methods that tear down are not called: the JVM ends.
 */
public record BatchMethod(Class<?> owner, String method, List<String> flags) implements InTurns {
  private static final String METHOD = "weft.bench.method";

  public BatchMethod {
    flags = List.copyOf(flags);
  }

  /** Measures the method in a JVM with these flags in addition to those that Weft needs. */
  public BatchMethod(Class<?> owner, String method, String... flags) {
    this(owner, method, List.of(flags));
  }

  @Override
  public Outcome measure(Trial trial) throws InterruptedException {
    return windows().measure(trial);
  }

  @Override
  public Session open(Trial trial) throws InterruptedException {
    return windows().open(trial);
  }

  @Override
  public Optional<EntryPoint> entryPoint() {
    return Optional.of(new EntryPoint(owner, method));
  }

  private ForkedWindows windows() {
    List<String> all = new ArrayList<>(flags);
    all.add("-D" + METHOD + "=" + owner.getName() + "." + method);
    return new ForkedWindows(Batches.class, all);
  }

  /** Calls the method over and over, in its own JVM. */
  public static final class Batches implements WindowProbe {
    /** Long enough for the compiler, on two cores that are busy otherwise. */
    private static final Duration WARM_UP = Duration.ofSeconds(5);

    private static final Duration QUICK_WARM_UP = Duration.ofSeconds(3);
    private static final Duration WINDOW = Duration.ofMillis(200);

    @Override
    public Windows prepare(String parameter, boolean quick) throws Exception {
      String name = System.getProperty(METHOD);
      int dot = name.lastIndexOf('.');
      Method method = find(Class.forName(name.substring(0, dot)), name.substring(dot + 1));
      MethodHandle batch = bind(method, parameter);
      int operations = operationsOf(method);
      repeat(batch, quick ? QUICK_WARM_UP : WARM_UP);
      return () -> Map.of(Metric.TIME.name(), repeat(batch, WINDOW) / operations);
    }

    private static Method find(Class<?> owner, String name) throws Probe.Impossible {
      for (Method method : owner.getMethods()) {
        if (method.getName().equals(name)) {
          return method;
        }
      }
      throw new Probe.Impossible("no method " + owner.getSimpleName() + "." + name);
    }

    private static MethodHandle bind(Method method, String parameter)
        throws ReflectiveOperationException {
      List<Object> arguments = new ArrayList<>();
      if (!Modifier.isStatic(method.getModifiers())) {
        arguments.add(method.getDeclaringClass().getDeclaredConstructor().newInstance());
      }
      for (Class<?> type : method.getParameterTypes()) {
        arguments.add(stateOf(type, parameter));
      }
      return MethodHandles.insertArguments(
          MethodHandles.publicLookup().unreflect(method), 0, arguments.toArray());
    }

    private static Object stateOf(Class<?> type, String parameter)
        throws ReflectiveOperationException {
      Object state = type.getDeclaredConstructor().newInstance();
      for (Field field : type.getFields()) {
        if (field.isAnnotationPresent(Param.class)) {
          field.setInt(state, Integer.parseInt(parameter));
        }
      }
      return state;
    }

    private static int operationsOf(Method method) {
      return Arrays.stream(method.getAnnotationsByType(OperationsPerInvocation.class))
          .mapToInt(OperationsPerInvocation::value)
          .findFirst()
          .orElse(1);
    }

    /**
     * Calls the method until the time is over, at least once; returns the nanoseconds of a call.
     */
    private static double repeat(MethodHandle batch, Duration time) throws Exception {
      long start = System.nanoTime();
      long calls = 0;
      long took;
      do {
        call(batch);
        calls++;
        took = System.nanoTime() - start;
      } while (took < time.toNanos());
      return (double) took / calls;
    }

    private static void call(MethodHandle batch) throws Exception {
      try {
        batch.invokeWithArguments();
      } catch (Exception | Error e) {
        throw e;
      } catch (Throwable e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
