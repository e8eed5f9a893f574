package dev.weft.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.weft.bench.model.Outcome;
import dev.weft.bench.model.Run;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.xml.sax.InputSource;

class RenderingTest {
  private final Summary summary = Summary.of(Examples.comparison(), Examples.runs());

  @Test
  void table() {
    assertThat(TextTable.render(summary))
        .isEqualTo(
            """
            switch: What a switch costs & shows.
            time in ns, less is better
              depth    contestant  median  min–max       Weft ÷ it            bar
              1        Weft        585     110–1,060
                       raw         550     100–1,000     1.08 [1.06–1.10]     ≤ 1.15 ×  met
                       thread      27,500  5,000–50,000  0.022 [0.021–0.022]
              100,000  Weft        300     300–300
                       raw         200     200–200       1.50 [1.50–1.50]     ≤ 1.15 ×  MISSED
                       thread      9,000   9,000–9,000   0.033 [0.033–0.033]
            """);
  }

  @Test
  void tableShowsAFailureInPlaceOfANumber() {
    List<Run> runs = List.of(new Run(1, "1", "raw", new Outcome.Failure("OutOfMemoryError")));

    assertThat(TextTable.render(Summary.of(Examples.comparison(), runs)))
        .contains("raw         OutOfMemoryError");
  }

  @Test
  void pictureIsXmlAndNamesEverything() throws Exception {
    Document picture = parse(SvgChart.render(summary, Examples.ENVIRONMENT));

    assertThat(picture.getDocumentElement().getNodeName()).isEqualTo("svg");
    assertThat(picture.getDocumentElement().getTextContent())
        .contains("What a switch costs & shows.", "JDK 25 <test>", "2026-01-31", "2 cores")
        .contains("depth 1", "depth 100,000", "Weft", "raw", "thread", "MISSED");
    // the sheet, and a bar for each row
    assertThat(picture.getElementsByTagName("rect").getLength()).isEqualTo(1 + 6);
  }

  @Test
  void pictureDoesNotDependOnTheLocale() {
    String expected = SvgChart.render(summary, Examples.ENVIRONMENT);
    Locale before = Locale.getDefault();
    try {
      Locale.setDefault(Locale.GERMANY);
      assertThat(SvgChart.render(summary, Examples.ENVIRONMENT)).isEqualTo(expected);
    } finally {
      Locale.setDefault(before);
    }
  }

  @Test
  void pictureStandsAFailureOfAll() throws Exception {
    List<Run> runs = List.of(new Run(1, "1", "Weft", new Outcome.Failure("it <broke>")));
    String svg = SvgChart.render(Summary.of(Examples.comparison(), runs), Examples.ENVIRONMENT);

    assertThat(parse(svg).getDocumentElement().getTextContent()).contains("it <broke>");
  }

  @Test
  void jsonHoldsEveryReading() {
    List<Run> runs = new ArrayList<>(Examples.runs());
    runs.add(new Run(3, "1", "raw", new Outcome.Failure("crash")));
    JsonObject json =
        JsonParser.parseString(JsonReport.render(summary, runs, Examples.ENVIRONMENT))
            .getAsJsonObject();

    assertThat(json.get("runs").getAsJsonArray()).hasSize(13);
    assertThat(json.get("runs").toString())
        .contains("{\"byMetric\":{\"time\":[110.0]}}", "{\"reason\":\"crash\",\"absent\":false}");
    assertThat(json.get("environment").getAsJsonObject().get("cores").getAsInt()).isEqualTo(2);
    assertThat(json.get("summary").getAsJsonArray()).hasSize(6);
  }

  @Test
  void pageSaysFirstWhatWasMissed() {
    String json = JsonReport.render(summary, Examples.runs(), Examples.ENVIRONMENT);

    assertThat(NumbersPage.render(List.of(json)))
        .contains(
            """
            1 of 2 bars are met. Those that are not:

            | | | against | got | bar |
            |---|---|---|---|---|
            | [switch](#switch) | time depth 100,000 | raw | 1.50 [1.50–1.50] | ≤ 1.15 × |
            """)
        .endsWith(
            """
            ## switch

            What a switch costs & shows.
            `./weft bench`, commit 1234567, 2026-01-31 · JDK 25 <test> · Linux · Z80 · 2 cores, [every reading](numbers/switch.json)

            | depth | time, ns, less is better | median | min–max | Weft ÷ it | bar |
            |---|---|---|---|---|---|
            | 1 | Weft | 585 | 110–1,060 |  |  |
            |  | raw | 550 | 100–1,000 | 1.08 [1.06–1.10] | ≤ 1.15 × met |
            |  | thread | 27,500 | 5,000–50,000 | 0.022 [0.021–0.022] |  |
            | 100,000 | Weft | 300 | 300–300 |  |  |
            |  | raw | 200 | 200–200 | 1.50 [1.50–1.50] | ≤ 1.15 × **missed** |
            |  | thread | 9,000 | 9,000–9,000 | 0.033 [0.033–0.033] |  |

            ![switch](img/switch.svg)

            """);
  }

  private static Document parse(String xml) throws Exception {
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new InputSource(new StringReader(xml)));
  }
}
