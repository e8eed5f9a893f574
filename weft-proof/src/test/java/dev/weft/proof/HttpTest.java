package dev.weft.proof;

import static dev.weft.proof.OneThread.FIBERS;
import static dev.weft.proof.OneThread.join;
import static dev.weft.proof.OneThread.joinAll;
import static java.util.stream.IntStream.range;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.Fiber;
import dev.weft.testkit.Certificate;
import dev.weft.testkit.Feature;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Four HTTP clients. */
@Feature("H8")
class HttpTest {
  private static Certificate certificate;

  @BeforeAll
  static void create() throws Exception {
    certificate = Certificate.shared();
  }

  private static List<String> pages(int n) {
    return range(0, n).mapToObj(i -> "page " + i).toList();
  }

  private static void aWaitingRequestBlocksNoThread(WebClient.Kind kind, Site site, int n)
      throws Exception {
    try (OneThread one = new OneThread();
        WebClient client = kind.open(certificate, OneThread.LIMIT)) {
      List<Fiber<String>> fibers =
          one.goAll(n, i -> client.ask(site.uri("/gate/" + i), Optional.empty()));
      one.eventually("the server has all questions", () -> site.gate().arrived() == n);
      one.hasFreeThread();
      site.gate().open();
      assertThat(joinAll(fibers)).isEqualTo(pages(n));
      // and again over the connections that are open by now
      fibers = one.goAll(n, i -> client.ask(site.uri("/page/" + i), Optional.empty()));
      assertThat(joinAll(fibers)).isEqualTo(pages(n));
    }
  }

  @ParameterizedTest
  @EnumSource
  void waitingForTheServerBlocksNoThread(WebClient.Kind kind) throws Exception {
    try (Site site = new Site(Optional.empty())) {
      aWaitingRequestBlocksNoThread(kind, site, FIBERS);
    }
  }

  /** A quarter of the fibers, because handshakes take time: {@link SocketTest} has 200 with TLS. */
  @ParameterizedTest
  @EnumSource
  void waitingForATlsServerBlocksNoThread(WebClient.Kind kind) throws Exception {
    try (Site site = new Site(Optional.of(certificate))) {
      aWaitingRequestBlocksNoThread(kind, site, FIBERS / 4);
    }
  }

  /** The bodies are larger than the socket buffers. */
  @ParameterizedTest
  @EnumSource
  void largeBodiesBothWays(WebClient.Kind kind) throws Exception {
    String large = "y".repeat(Site.LARGE);
    try (Site site = new Site(Optional.empty());
        OneThread one = new OneThread();
        WebClient client = kind.open(certificate, OneThread.LIMIT)) {
      List<Fiber<Boolean>> fibers =
          one.goAll(
              20, // 40 MB in transit is enough
              i ->
                  i % 2 == 0
                      ? client.ask(site.uri("/large"), Optional.empty()).length() == Site.LARGE
                      : client.ask(site.uri("/echo"), Optional.of(large)).equals(large));
      assertThat(joinAll(fibers)).containsOnly(true);
    }
  }

  @ParameterizedTest
  @EnumSource
  void readTimeoutsAndTruncatedResponsesFailAndTheOtherFibersGoOn(WebClient.Kind kind)
      throws Exception {
    try (Site site = new Site(Optional.empty());
        OneThread one = new OneThread();
        WebClient impatient = kind.open(certificate, Duration.ofMillis(200));
        WebClient patient = kind.open(certificate, OneThread.LIMIT)) {
      List<Fiber<String>> fibers =
          one.goAll(
              FIBERS,
              i -> {
                try {
                  return switch (i % 4) {
                    case 0 -> impatient.ask(site.uri("/never"), Optional.empty());
                    case 1 -> patient.ask(site.uri("/cut"), Optional.empty());
                    default -> patient.ask(site.uri("/page/7"), Optional.empty());
                  };
                } catch (IOException e) {
                  return (isTimeout(e) ? "timeout" : "cut");
                }
              });
      assertThat(joinAll(fibers))
          .isEqualTo(
              range(0, FIBERS)
                  .mapToObj(i -> i % 4 == 0 ? "timeout" : i % 4 == 1 ? "cut" : "page 7")
                  .toList());
    }
  }

  private static boolean isTimeout(IOException e) {
    return e instanceof SocketTimeoutException || e instanceof HttpTimeoutException;
  }

  @ParameterizedTest
  @EnumSource
  void aCancelledFiberLeavesItsRequestAtOnce(WebClient.Kind kind) throws Exception {
    try (Site site = new Site(Optional.empty());
        OneThread one = new OneThread();
        WebClient client = kind.open(certificate, OneThread.LIMIT.multipliedBy(2))) {
      List<Fiber<String>> fibers =
          one.goAll(20, i -> client.ask(site.uri("/never"), Optional.empty()));
      one.eventually("all ask", () -> site.unanswered() == 20);
      for (Fiber<String> fiber : fibers) {
        fiber.cancel();
      }
      for (Fiber<String> fiber : fibers) {
        assertThatThrownBy(() -> join(fiber)).isInstanceOf(CancellationException.class);
      }
      assertThat(join(one.go(() -> client.ask(site.uri("/page/1"), Optional.empty()))))
          .isEqualTo("page 1");
    }
  }
}
