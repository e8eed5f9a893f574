package dev.weft.bench.im;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import dev.weft.bench.im.LoadBars.Slowdown;
import dev.weft.bench.im.LoadBars.Verdict;
import dev.weft.bench.report.Environment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * All that came of a load, as text and as JSON.
 *
 * @param name of the files with the results
 * @param memory lines about the memory of the server
 * @param counts how many messages, deliveries and so on there were
 * @param slowdowns what the attacks did to the latency, beside the verdicts
 * @param faults what was lost, doubled or out of order; none if all is well
 */
record LoadReport(
    String name,
    String title,
    Map<String, Number> asked,
    List<Phase> phases,
    List<String> memory,
    Map<String, Number> counts,
    List<Verdict> verdicts,
    List<Slowdown> slowdowns,
    List<String> faults) {
  private static final Gson GSON =
      new GsonBuilder().setPrettyPrinting().disableHtmlEscaping().create();

  boolean allMet() {
    return verdicts.stream().allMatch(Verdict::isMet);
  }

  String text() {
    StringBuilder text = new StringBuilder(title).append(": ").append(listed(asked)).append('\n');
    text.append(
        String.format(
            Locale.ROOT,
            "%-24s %12s %9s %9s %9s %9s %12s %8s%n",
            "",
            "deliveries/s",
            "50 % ms",
            "99 % ms",
            "99.9 %",
            "max",
            "CPU us each",
            "RSS MB"));
    for (Phase phase : phases) {
      text.append(
          String.format(
              Locale.ROOT,
              "%-24s %,12.0f %9.2f %9.2f %9.2f %9.2f %12.1f %8d%n",
              phase.name(),
              phase.perSecond(),
              phase.millis(50),
              phase.millis(99),
              phase.millis(99.9),
              phase.millis(100),
              phase.cpuMicrosPerDelivery(),
              phase.residentBytes() >> 20));
    }
    memory.forEach(line -> text.append(line).append('\n'));
    verdicts.forEach(verdict -> text.append(verdict).append('\n'));
    slowdowns.forEach(slowdown -> text.append(slowdown).append('\n'));
    text.append(listed(counts)).append('\n');
    faults.forEach(fault -> text.append("FAULT ").append(fault).append('\n'));
    if (faults.isEmpty()) {
      text.append("each member heard each message once, in one order\n");
    }
    return text.toString();
  }

  private static String listed(Map<String, Number> numbers) {
    List<String> parts = new ArrayList<>();
    numbers.forEach(
        (what, number) -> parts.add(String.format(Locale.ROOT, "%,d %s", number, what)));
    return String.join(", ", parts);
  }

  String json(Environment environment) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("name", name);
    all.put("shows", title);
    all.put("environment", environment);
    all.put("asked", asked);
    all.put("phases", phases.stream().map(LoadReport::ofPhase).toList());
    all.put("memory", memory);
    all.put("counts", counts);
    all.put("bars", verdicts.stream().map(LoadReport::ofVerdict).toList());
    Map<String, Double> ratios = new LinkedHashMap<>();
    slowdowns.forEach(slowdown -> ratios.put(slowdown.attack(), slowdown.ratio()));
    all.put("millis99DividedByQuiet", ratios);
    all.put("faults", faults);
    return GSON.toJson(all) + "\n";
  }

  private static Map<String, Object> ofPhase(Phase phase) {
    Map<String, Object> numbers = new LinkedHashMap<>();
    numbers.put("name", phase.name());
    numbers.put("deliveriesPerSecond", phase.perSecond());
    for (double percentile : new double[] {50, 99, 99.9, 100}) {
      numbers.put("millis" + (percentile == 100 ? "Max" : percentile), phase.millis(percentile));
    }
    numbers.put("millis99OfEachSecond", phase.seconds());
    numbers.put("cpuMicrosPerDelivery", phase.cpuMicrosPerDelivery());
    numbers.put("residentBytes", phase.residentBytes());
    return numbers;
  }

  private static Map<String, Object> ofVerdict(Verdict verdict) {
    Map<String, Object> bar = new LinkedHashMap<>();
    bar.put("what", verdict.what());
    bar.put("measured", verdict.measured());
    bar.put(verdict.atMost() ? "atMost" : "atLeast", verdict.limit());
    bar.put("met", verdict.isMet());
    return bar;
  }
}
