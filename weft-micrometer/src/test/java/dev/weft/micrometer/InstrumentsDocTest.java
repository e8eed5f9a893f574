package dev.weft.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.HelpersMXBean;
import dev.weft.Scheduler;
import dev.weft.SchedulerMXBean;
import dev.weft.internal.events.FlightEvents;
import dev.weft.testkit.Feature;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import jdk.jfr.Configuration;
import jdk.jfr.Event;
import jdk.jfr.Name;
import jdk.jfr.Threshold;
import org.junit.jupiter.api.Test;

/** docs/instruments.md lists just the events, beans and meters that the code has. */
@Feature("O4")
class InstrumentsDocTest {
  private static final Path ROOT = Path.of(System.getProperty("weft.root"));
  private static final Pattern FIRST_CELL = Pattern.compile("(?m)^\\| `([^`]+)` \\|(.*)\\|$");

  /** Returns the first cells of the table below a heading. */
  private static Set<String> rows(String heading) throws IOException {
    return table(heading).stream()
        .map(row -> row.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static List<MatchResult> table(String heading) throws IOException {
    String page = Files.readString(ROOT.resolve("docs/instruments.md"));
    int start = page.indexOf("\n## " + heading + "\n");
    assertThat(start).as("a heading %s", heading).isPositive();
    int end = page.indexOf("\n## ", start + 1);
    return FIRST_CELL
        .matcher(page.substring(start, end < 0 ? page.length() : end))
        .results()
        .toList();
  }

  private static List<Class<?>> events() {
    return Arrays.stream(FlightEvents.class.getDeclaredClasses())
        .filter(Event.class::isAssignableFrom)
        .toList();
  }

  private static String nameOf(Class<?> event) {
    return event.getAnnotation(Name.class).value();
  }

  @Test
  void everyEventIsListedWithItsFieldsAndItsThreshold() throws Exception {
    assertThat(events()).hasSizeGreaterThan(5);
    assertThat(rows("Flight Recorder events"))
        .isEqualTo(events().stream().map(InstrumentsDocTest::nameOf).collect(Collectors.toSet()));
    for (MatchResult row : table("Flight Recorder events")) {
      Class<?> event =
          events().stream().filter(e -> nameOf(e).equals(row.group(1))).findAny().orElseThrow();
      Threshold threshold = event.getAnnotation(Threshold.class);
      assertThat(fieldsOf(event))
          .as(row.group())
          .allSatisfy(field -> assertThat(row.group(2)).contains(field));
      assertThat(row.group(2)).contains(threshold == null ? "" : threshold.value());
    }
  }

  private static List<String> fieldsOf(Class<?> event) {
    return Arrays.stream(event.getDeclaredFields())
        .filter(field -> !Modifier.isStatic(field.getModifiers()))
        .filter(field -> !field.isSynthetic() && !Modifier.isTransient(field.getModifiers()))
        .map(Field::getName)
        .map(name -> "`" + name + "`")
        .toList();
  }

  @Test
  void everyAttributeAndOperationOfABeanIsListed() throws Exception {
    assertThat(rows("JMX beans"))
        .isEqualTo(
            Stream.concat(
                    members(SchedulerMXBean.class, "Scheduler"),
                    members(HelpersMXBean.class, "Helpers"))
                .collect(Collectors.toSet()));
  }

  private static Stream<String> members(Class<?> bean, String type) {
    return Arrays.stream(bean.getMethods())
        .map(Method::getName)
        .map(name -> name.startsWith("get") ? name.substring(3) : name + "()")
        .map(name -> type + "." + name);
  }

  @Test
  void everyMeterIsListed() throws Exception {
    MeterRegistry registry = new SimpleMeterRegistry();
    try (Scheduler scheduler = Scheduler.builder().build()) {
      WeftMetrics.of(scheduler).bindTo(registry);
      assertThat(rows("Micrometer meters"))
          .isEqualTo(
              registry.getMeters().stream()
                  .map(meter -> meter.getId().getName())
                  .collect(Collectors.toSet()));
    }
  }

  @Test
  void theConfigurationSwitchesEveryEventOn() throws Exception {
    Configuration configuration = Configuration.create(ROOT.resolve("weft.jfc"));
    assertThat(configuration.getSettings())
        .containsAllEntriesOf(
            events().stream()
                .collect(Collectors.toMap(event -> nameOf(event) + "#enabled", _ -> "true")));
    assertThat(
            configuration.getSettings().keySet().stream()
                .filter(key -> key.startsWith("dev.weft."))
                .map(key -> key.substring(0, key.indexOf('#')))
                .distinct())
        .hasSize(events().size());
  }
}
