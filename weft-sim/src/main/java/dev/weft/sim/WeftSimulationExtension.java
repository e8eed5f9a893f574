package dev.weft.sim;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContextProvider;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.commons.support.HierarchyTraversalMode;

/** Runs the methods with {@link WeftSimulation}: one test for JUnit, many runs. */
final class WeftSimulationExtension
    implements TestTemplateInvocationContextProvider, InvocationInterceptor, ParameterResolver {
  @Override
  public boolean supportsTestTemplate(ExtensionContext context) {
    return AnnotationSupport.isAnnotated(context.getTestMethod(), WeftSimulation.class);
  }

  @Override
  public Stream<TestTemplateInvocationContext> provideTestTemplateInvocationContexts(
      ExtensionContext context) {
    String name = context.getDisplayName();
    return Stream.of(
        new TestTemplateInvocationContext() {
          @Override
          public String getDisplayName(int index) {
            return name;
          }
        });
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == Simulation.class;
  }

  /** Returns nothing: the call that JUnit prepares is skipped. */
  @Override
  public @Nullable Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return null;
  }

  // ---- @BeforeEach and @AfterEach belong into the runs ----

  @Override
  public void interceptBeforeEachMethod(
      Invocation<@Nullable Void> invocation,
      ReflectiveInvocationContext<Method> call,
      ExtensionContext context)
      throws Throwable {
    proceedUnlessSimulated(invocation, context);
  }

  @Override
  public void interceptAfterEachMethod(
      Invocation<@Nullable Void> invocation,
      ReflectiveInvocationContext<Method> call,
      ExtensionContext context)
      throws Throwable {
    proceedUnlessSimulated(invocation, context);
  }

  private void proceedUnlessSimulated(
      Invocation<@Nullable Void> invocation, ExtensionContext context) throws Throwable {
    if (supportsTestTemplate(context)) {
      invocation.skip();
    } else {
      invocation.proceed();
    }
  }

  @Override
  public void interceptTestTemplateMethod(
      Invocation<@Nullable Void> invocation,
      ReflectiveInvocationContext<Method> call,
      ExtensionContext context) {
    invocation.skip();
    Method method = call.getExecutable();
    WeftSimulation asked =
        AnnotationSupport.findAnnotation(method, WeftSimulation.class).orElseThrow();
    Optional<Object> outer =
        context.getRequiredTestInstances().getEnclosingInstances().stream().reduce((a, b) -> b);
    TestRun run = new TestRun(context.getRequiredTestClass(), method, outer.orElse(null));
    SimulationResult result = Simulation.explore(options(asked).name(method.getName()), run);
    if (!result.faults().isEmpty()) {
      context.publishReportEntry("faults", Fault.describe(result.faults()));
    }
    result.check();
  }

  private static SimulationOptions options(WeftSimulation asked) {
    SimulationOptions options =
        asked.replay().isEmpty()
            ? SimulationOptions.seeds(Integer.getInteger("weft.sim.seeds", asked.seeds()))
                .firstSeed(asked.firstSeed())
            : SimulationOptions.replay(asked.replay());
    return options
        .points(asked.points())
        .maxSteps(asked.maxSteps())
        .timersEarly(asked.timersEarly());
  }

  /** One run of a test method, on a new instance of its class. */
  private static final class TestRun implements SimulationBody {
    private final Class<?> type;
    private final Method method;
    private final @Nullable Object outer;
    private final List<Method> before;
    private final List<Method> after;

    TestRun(Class<?> type, Method method, @Nullable Object outer) {
      this.type = type;
      this.method = method;
      this.outer = outer;
      this.before =
          AnnotationSupport.findAnnotatedMethods(
              type, BeforeEach.class, HierarchyTraversalMode.TOP_DOWN);
      this.after =
          AnnotationSupport.findAnnotatedMethods(
              type, AfterEach.class, HierarchyTraversalMode.BOTTOM_UP);
    }

    @Override
    public void run(Simulation simulation) throws Exception {
      Object instance = instance();
      Throwable failure = null;
      try {
        for (Method each : before) {
          call(each, instance, simulation);
        }
        call(method, instance, simulation);
      } catch (Throwable e) {
        failure = e;
      }
      for (Method each : after) {
        try {
          call(each, instance, simulation);
        } catch (Throwable e) { // must not hide what the test itself has found
          if (failure == null) {
            failure = e;
          } else if (failure != e) {
            failure.addSuppressed(e);
          }
        }
      }
      switch (failure) {
        case null -> {}
        case Error error -> throw error;
        case Exception exception -> throw exception;
        default -> throw new IllegalStateException(failure);
      }
    }

    private Object instance() throws Exception {
      Constructor<?> constructor =
          outer == null
              ? type.getDeclaredConstructor()
              : type.getDeclaredConstructor(outer.getClass());
      constructor.setAccessible(true);
      try {
        return outer == null ? constructor.newInstance() : constructor.newInstance(outer);
      } catch (InvocationTargetException e) {
        throw unwrapped(e);
      }
    }

    private static void call(Method called, Object instance, Simulation simulation)
        throws Exception {
      called.setAccessible(true);
      try {
        called.invoke(
            instance, called.getParameterCount() == 0 ? new Object[0] : new Object[] {simulation});
      } catch (InvocationTargetException e) {
        throw unwrapped(e);
      }
    }

    private static Exception unwrapped(InvocationTargetException e) {
      return switch (e.getCause()) {
        case Error error -> throw error;
        case Exception exception -> exception;
        case null, default -> e;
      };
    }
  }
}
