package dev.weft.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.weft.testkit.TestResult.Outcome;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.AnnotatedElement;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Writes each test's start and end, with the features it proves, to the file that the system
 * property {@code weft.features.out} names. A line is on disk before the test goes on, so that a
 * JVM that dies leaves the name of the test it died in.
 */
public final class TestJournal implements TestExecutionListener {
  private static final Set<Path> CREATED = new HashSet<>();

  private final @Nullable Path file;
  private @Nullable TestPlan plan;

  /** Made by JUnit, which finds this class through {@code META-INF/services}. */
  public TestJournal() {
    String out = System.getProperty("weft.features.out");
    file = out == null ? null : Path.of(out);
    if (file != null) {
      createEmpty(file);
    }
  }

  @Override
  public void testPlanExecutionStarted(TestPlan started) {
    plan = started;
  }

  @Override
  public void executionStarted(TestIdentifier id) {
    if (id.isTest()) {
      write(id, Outcome.STARTED, "");
    }
  }

  @Override
  public void executionFinished(TestIdentifier id, TestExecutionResult result) {
    Outcome outcome =
        switch (result.getStatus()) {
          case SUCCESSFUL -> Outcome.PASSED;
          case ABORTED -> Outcome.SKIPPED;
          case FAILED -> Outcome.FAILED;
        };
    // of containers only these matter: a @BeforeAll, a method source
    if (id.isTest() || outcome != Outcome.PASSED) {
      write(id, outcome, result.getThrowable().map(e -> describe(e, id)).orElse(""));
    }
  }

  @Override
  public void executionSkipped(TestIdentifier id, String reason) {
    List<TestIdentifier> tests = new ArrayList<>();
    if (plan != null) {
      plan.getDescendants(id).stream().filter(TestIdentifier::isTest).forEach(tests::add);
    }
    if (tests.isEmpty()) {
      tests.add(id);
    }
    tests.forEach(test -> write(test, Outcome.SKIPPED, reason));
  }

  private void write(TestIdentifier id, Outcome outcome, String message) {
    if (file == null) {
      return;
    }
    TestResult result = new TestResult(List.copyOf(features(id)), name(id), outcome, message);
    append(file, result.line() + "\n");
  }

  /** Returns the exception, with the line of the test where it came out. */
  private String describe(Throwable thrown, TestIdentifier id) {
    String testClass = className(id);
    return Stream.of(thrown.getStackTrace())
        .filter(frame -> frame.getClassName().equals(testClass))
        .findFirst()
        .map(frame -> "%s (%s:%d)".formatted(thrown, frame.getFileName(), frame.getLineNumber()))
        .orElse(thrown.toString());
  }

  private String className(TestIdentifier id) {
    return switch (id.getSource().orElse(null)) {
      case MethodSource method -> method.getClassName();
      case ClassSource type -> type.getClassName();
      case null, default -> parent(id).map(this::className).orElse("");
    };
  }

  private String name(TestIdentifier id) {
    return switch (id.getSource().orElse(null)) {
      case MethodSource method -> {
        String name = method.getClassName() + "." + method.getMethodName();
        yield isInvocation(id) ? name + "[" + id.getDisplayName() + "]" : name;
      }
      case ClassSource type -> type.getClassName();
      case null, default -> parent(id).map(this::name).orElse("") + "[" + id.getDisplayName() + "]";
    };
  }

  /** Whether this is an invocation of a parametrised or repeated method. */
  private boolean isInvocation(TestIdentifier id) {
    return parent(id).flatMap(TestIdentifier::getSource).orElse(null) instanceof MethodSource;
  }

  private Set<String> features(TestIdentifier id) {
    Set<String> features = new TreeSet<>();
    id.getSource().ifPresent(source -> addFeatures(source, features));
    parent(id).ifPresent(parent -> features.addAll(features(parent)));
    return features;
  }

  private static void addFeatures(TestSource source, Set<String> features) {
    AnnotatedElement element =
        switch (source) {
          case MethodSource method -> method.getJavaMethod();
          case ClassSource type -> type.getJavaClass();
          default -> null;
        };
    Feature feature = element == null ? null : element.getAnnotation(Feature.class);
    if (feature != null) {
      features.addAll(List.of(feature.value()));
    }
  }

  private Optional<TestIdentifier> parent(TestIdentifier id) {
    return plan == null ? Optional.empty() : plan.getParent(id);
  }

  /** Once in a JVM: Surefire may make several listeners, one after the other. */
  private static synchronized void createEmpty(Path file) {
    if (!CREATED.add(file)) {
      return;
    }
    try {
      Files.createDirectories(file.toAbsolutePath().getParent());
      Files.writeString(file, "");
    } catch (IOException e) {
      throw new UncheckedIOException("cannot create the test journal " + file, e);
    }
  }

  private static synchronized void append(Path file, String line) {
    try {
      // not writeString, which refuses the half of a surrogate pair that a test may have in its
      // name
      Files.write(file, line.getBytes(UTF_8), StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write the test journal " + file, e);
    }
  }
}
