package dev.weft.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.testkit.Feature;
import java.io.IOException;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Reading the head of a request, however it comes and whatever is in it. */
@Feature("A2")
class RequestHeadTest {
  private static final String USUAL =
      """
      POST /path/to?q=1 HTTP/1.1\r
      Host: localhost\r
      CONTENT-length: 12\r
      Connection: keep-alive, Upgrade\r
      X-Latin: \u00e4\u00f6\t\u00fc\r
      Empty:\r
      \r
      """;

  /** Bytes that come in pieces. */
  private static final class Pieces implements Input.Source {
    private final byte[] bytes;
    private final Random random;
    private int at;

    Pieces(String text, long seed) {
      bytes = text.getBytes(ISO_8859_1);
      random = new Random(seed);
    }

    @Override
    public int read(byte[] target, int offset, int length) {
      if (at == bytes.length) {
        return -1;
      }
      int count = Math.min(1 + random.nextInt(40), Math.min(length, bytes.length - at));
      System.arraycopy(bytes, at, target, offset, count);
      at += count;
      return count;
    }
  }

  private static @Nullable RequestHead read(Input input) throws IOException, Rejected {
    while (!RequestHead.hasBegun(input)) {
      if (!input.more()) {
        return null;
      }
    }
    return RequestHead.read(input, HttpLimits.fromProperties(), () -> {});
  }

  @Test
  void theHeadReadsTheSameInWhateverPieces() throws Exception {
    for (long seed = 0; seed < 200; seed++) {
      Input input = new Input(new Pieces("\r\n" + USUAL + "the body    " + USUAL, seed));
      for (int i = 0; i < 2; i++) {
        RequestHead head = read(input);
        assertThat(head).isNotNull();
        assertThat(head.method()).isEqualTo("POST");
        assertThat(head.uri()).hasToString("/path/to?q=1");
        assertThat(head.path()).isEqualTo("/path/to");
        assertThat(head.http10()).isFalse();
        assertThat(head.bodyLength()).isEqualTo(12);
        assertThat(head.keepsAlive()).isTrue();
        assertThat(head.expectsContinue()).isFalse();
        assertThat(head.headers()).hasSize(5);
        assertThat(head.headers().getFirst("X-latin")).isEqualTo("\u00e4\u00f6\t\u00fc");
        assertThat(head.headers().getFirst("Empty")).isEmpty();
        if (i == 0) {
          byte[] body = new byte[12];
          input.readFully(body, 0, 12);
          assertThat(new String(body, ISO_8859_1)).isEqualTo("the body    ");
        }
      }
      assertThat(read(input)).isNull();
    }
  }

  /** What holds a head that has not ended yet is no longer than the longest one. */
  @Test
  void aHeadHasNoMoreRoomThanItMayTake() {
    HttpLimits limits = HttpLimits.fromProperties().withHeadBytes(5000);
    Input input = new Input(new Pieces("GET / HTTP/1.1\r\nA: " + "a".repeat(9000), 1));
    assertThatThrownBy(
            () -> {
              assertThat(input.more()).isTrue();
              RequestHead.read(input, limits, () -> {});
            })
        .isInstanceOf(Rejected.class);
    assertThat(input.bytes().length).isEqualTo(5001);
  }

  /** Whatever comes is a head, the end, or refused. */
  @Test
  void noBytesDoHarm() throws Exception {
    Random random = new Random(1);
    int accepted = 0;
    for (int round = 0; round < 50_000; round++) {
      StringBuilder text = new StringBuilder(USUAL);
      for (int changes = random.nextInt(4); changes >= 0; changes--) {
        int at = random.nextInt(text.length());
        switch (random.nextInt(4)) {
          case 0 -> text.deleteCharAt(at);
          case 1 -> text.insert(at, (char) random.nextInt(256));
          case 2 -> text.setCharAt(at, (char) random.nextInt(256));
          default -> text.insert(at, "\r\n:; ,HTTP/1.1".charAt(random.nextInt(14)));
        }
      }
      try {
        RequestHead head = read(new Input(new Pieces(text.toString(), round)));
        if (head != null) {
          accepted++;
          assertThat(head.headers().keySet()).isNotNull();
          assertThat(head.uri()).isNotNull();
          assertThat(head.path()).isNotNull();
        }
      } catch (Rejected e) {
        assertThat(e.status()).isBetween(400, 505);
        assertThat(e).hasMessageMatching("[ -~]+");
      }
    }
    assertThat(accepted).isBetween(5_000, 45_000);
  }

  @Test
  void aTargetIsParsedWhenItHasToBe() throws Exception {
    assertThat(target("/plain?x=y")).isEqualTo("/plain");
    assertThat(target("/a%20b")).isEqualTo("/a b");
    assertThat(target("/path//b")).isEqualTo("/path//b");
    assertThat(target("http://host//path")).isEqualTo("//path");
    assertThat(target("http://host/path?x")).isEqualTo("/path");
    assertThat(target("http://host")).isEqualTo("/");
  }

  private static String target(String target) throws Exception {
    RequestHead head =
        read(
            new Input(
                new Pieces("GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n", target.length())));
    assertThat(head).isNotNull();
    assertThat(head.uri()).hasToString(target);
    return head.path();
  }
}
