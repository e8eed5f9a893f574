package dev.weft.im;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.weft.testkit.Feature;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Where clients are, as limits by address see it. */
@Feature("A4")
class ImPlacesTest {
  private static final String TOO_MANY = "ERR limit too many wrong passwords";

  private static String placeOf(String address) {
    return Place.of(new InetSocketAddress(InetAddress.ofLiteral(address), 4711));
  }

  @Test
  void aPlaceIsAnAddressOrANetworkOfIpv6() {
    assertThat(placeOf("192.0.2.1")).isEqualTo("192.0.2.1");
    assertThat(placeOf("::ffff:192.0.2.1")).isEqualTo("192.0.2.1");
    assertThat(placeOf("2001:db8:0:1:ffff:ffff:ffff:ffff"))
        .isEqualTo(placeOf("2001:db8:0:1::1"))
        .isNotEqualTo(placeOf("2001:db8:0:2::1"));
  }

  @Test
  void placesOfOneSiteOfIpv6() {
    assertThat(Place.siteOf(placeOf("192.0.2.1"))).isEqualTo("192.0.2.1");
    assertThat(Place.siteOf(placeOf("2001:db8:0:ffff::1")))
        .isEqualTo(Place.siteOf(placeOf("2001:db8:0:1::1")))
        .isNotEqualTo(Place.siteOf(placeOf("2001:db8:1:1::1")));
  }

  @ParameterizedTest
  @CsvSource({
    "192.0.2.1, 192.0.2.1",
    "192.0.2.1:4711, 192.0.2.1",
    "2001:db8::1, 2001:db8:0:0:0:0:0:0/64",
    "[2001:db8::1], 2001:db8:0:0:0:0:0:0/64",
    "[2001:db8::1]:4711, 2001:db8:0:0:0:0:0:0/64"
  })
  void aProxyTellsAnAddressWithOrWithoutAPort(String told, String place) {
    assertThat(Place.ofForwarded(told)).isEqualTo(Optional.of(place));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "unknown", "_hidden", "[", "[]:1", "localhost", "999.1.1.1", "1.2.3.4.5"})
  void aTextThatIsNoAddressIsNoPlace(String told) {
    assertThat(Place.ofForwarded(told)).isEmpty();
  }

  /** Guesses as many passwords as are free, and one more, over connections with four each. */
  private static void useUpGuesses(Iterable<ImClient> clients) throws Exception {
    int guesses = 0;
    for (ImClient client : clients) {
      try (client) {
        for (int i = 0; i < 4 && guesses <= LoginGuard.FREE; i++, guesses++) {
          assertThat(client.ask("LOGIN nobody-%d wrong-password".formatted(guesses)))
              .startsWith("ERR denied ");
        }
      }
    }
    assertThat(guesses).isGreaterThan(LoginGuard.FREE);
  }

  private static String guess(ImClient client, String name) throws Exception {
    try (client) {
      return client.ask("LOGIN " + name + " wrong-password");
    }
  }

  /** Returns whether some guesses are too many; on a slow machine the first pause may be over. */
  private static boolean areTooMany(ImClient client, String name) throws Exception {
    try (client) {
      for (int i = 0; i < 4; i++) {
        if (client.ask("LOGIN %s-%d wrong-password".formatted(name, i)).startsWith(TOO_MANY)) {
          return true;
        }
      }
      return false;
    }
  }

  /** One machine has 2^64 addresses of IPv6: it must not get as many free guesses. */
  @Test
  void aNetworkOfIpv6BehindAProxyIsOnePlace() throws Exception {
    try (ImServer server = ImServer.builder().behindProxy(true).build().start()) {
      useUpGuesses(
          () ->
              IntStream.rangeClosed(1, 3)
                  .mapToObj(i -> ImClient.web(server, "198.51.100.7, 2001:db8:0:1::" + i))
                  .iterator());
      assertThat(areTooMany(ImClient.web(server, "2001:db8:0:1:ffff::9"), "ann")).isTrue();
      assertThat(areTooMany(ImClient.web(server, "[2001:db8:0:1::9]:4711"), "anna")).isTrue();
      assertThat(guess(ImClient.web(server, "2001:db8:0:2::1"), "bob")).startsWith("ERR denied ");
      // what the client itself said is before the last comma
      assertThat(guess(ImClient.web(server, "2001:db8:0:1::1, 192.0.2.1"), "carl"))
          .startsWith("ERR denied ");
      // the proxy itself, and a connection past it
      assertThat(guess(ImClient.web(server, "unknown"), "dora")).startsWith("ERR denied ");
      assertThat(guess(ImClient.web(server), "emil")).startsWith("ERR denied ");
    }
  }

  /** Without a proxy that is trusted a client can write what it likes into the header. */
  @Test
  void withoutAProxyTheHeaderCountsForNothing() throws Exception {
    try (ImServer server = ImServer.builder().build().start()) {
      useUpGuesses(
          () ->
              IntStream.rangeClosed(1, 3)
                  .mapToObj(i -> ImClient.web(server, "192.0.2." + i))
                  .iterator());
      assertThat(areTooMany(ImClient.web(server, "192.0.2.9"), "ann")).isTrue();
    }
  }

  /** Both ports, one place: a client cannot change the port to go on guessing. */
  @Test
  void aClientHasOnePlaceAtBothPorts() throws Exception {
    assumeTrue(
        NetworkInterface.getByInetAddress(InetAddress.ofLiteral("::1")) != null, "no IPv6 here");
    for (String host : new String[] {"127.0.0.1", "::1"}) {
      try (ImServer server = ImServer.builder().bind(host).build().start()) {
        useUpGuesses(
            () -> IntStream.rangeClosed(1, 3).mapToObj(i -> ImClient.web(server)).iterator());
        assertThat(areTooMany(ImClient.connect(server), "ann")).isTrue();
      }
    }
  }
}
