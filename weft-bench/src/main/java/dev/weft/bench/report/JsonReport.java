package dev.weft.bench.report;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonPrimitive;
import com.google.gson.JsonSerializer;
import dev.weft.bench.model.Comparison;
import dev.weft.bench.model.Contestant;
import dev.weft.bench.model.Run;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Everything that was measured, for machines: environment, each reading, and the summary. */
public final class JsonReport {
  private static final Gson GSON =
      new GsonBuilder()
          .setPrettyPrinting()
          .disableHtmlEscaping()
          .registerTypeAdapter(Double.class, (JsonSerializer<Double>) (d, _, _) -> number(d))
          .registerTypeAdapter(double.class, (JsonSerializer<Double>) (d, _, _) -> number(d))
          .create();

  private JsonReport() {}

  /** JSON has no infinity: the ratio to a contestant that answered nothing is null. */
  private static JsonElement number(double value) {
    return Double.isFinite(value) ? new JsonPrimitive(value) : JsonNull.INSTANCE;
  }

  /** Renders a JSON document. */
  public static String render(Summary summary, List<Run> runs, Environment environment) {
    Comparison comparison = summary.comparison();
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("name", comparison.name());
    report.put("shows", comparison.shows());
    report.put("environment", environment);
    report.put("parameter", comparison.parameter());
    report.put("metrics", comparison.metrics());
    report.put("contestants", comparison.contestants().stream().map(Contestant::name).toList());
    report.put("bars", comparison.bars());
    report.put("summary", summary.rows());
    report.put("runs", runs);
    return GSON.toJson(report) + "\n";
  }
}
