package dev.weft.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsParameters;
import dev.weft.testkit.Feature;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import org.junit.jupiter.api.Test;

/** What a configurator chooses is what the engine does. */
@SuppressWarnings("deprecation") // the old setters have to work as well
class TlsParametersTest {
  private static final String SUITE = "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256";

  private final InetSocketAddress client =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 4711);

  private SSLEngine engine(Consumer<HttpsParameters> choice) throws Exception {
    return TlsParameters.engine(configurator(SSLContext.getDefault(), choice), client);
  }

  static HttpsConfigurator configurator(SSLContext context, Consumer<HttpsParameters> choice) {
    return new HttpsConfigurator(context) {
      @Override
      public void configure(HttpsParameters parameters) {
        choice.accept(parameters);
      }
    };
  }

  @Test
  @Feature("A2")
  void theEngineIsTheServersAndKnowsTheClientWithoutANameServer() throws Exception {
    SSLEngine engine = TlsParameters.engine(new HttpsConfigurator(SSLContext.getDefault()), client);
    assertThat(engine.getUseClientMode()).isFalse();
    assertThat(engine.getPeerHost()).isEqualTo(client.getHostString());
    assertThat(engine.getPeerPort()).isEqualTo(4711);
    assertThat(engine.getEnabledProtocols()).contains("TLSv1.3", "TLSv1.2");
  }

  @Test
  @Feature("A2")
  void theConfiguratorSeesWhomItIsFor() throws Exception {
    List<Object> seen = new ArrayList<>();
    HttpsConfigurator configurator =
        configurator(
            SSLContext.getDefault(),
            parameters ->
                seen.addAll(
                    List.of(parameters.getHttpsConfigurator(), parameters.getClientAddress())));
    TlsParameters.engine(configurator, client);
    assertThat(seen).containsExactly(configurator, client);
  }

  @Test
  @Feature("A2")
  void parametersAreApplied() throws Exception {
    SSLEngine engine =
        engine(
            parameters -> {
              SSLParameters chosen = new SSLParameters();
              parameters.setSSLParameters(chosen);
              parameters.setSSLParameters(null); // changes nothing
              chosen.setProtocols(new String[] {"TLSv1.2"}); // later, which the JDK's server heeds
              chosen.setCipherSuites(new String[] {SUITE});
              chosen.setNeedClientAuth(true);
              chosen.setUseCipherSuitesOrder(false);
              chosen.setApplicationProtocols(new String[] {"http/1.1"});
            });
    assertThat(engine.getEnabledProtocols()).containsExactly("TLSv1.2");
    assertThat(engine.getEnabledCipherSuites()).containsExactly(SUITE);
    assertThat(engine.getNeedClientAuth()).isTrue();
    assertThat(engine.getSSLParameters().getUseCipherSuitesOrder()).isFalse();
    assertThat(engine.getSSLParameters().getApplicationProtocols()).containsExactly("http/1.1");
  }

  @Test
  @Feature("A2")
  void theOldSettersAreApplied() throws Exception {
    SSLEngine engine =
        engine(
            parameters -> {
              parameters.setProtocols(new String[] {"TLSv1.2"});
              parameters.setCipherSuites(new String[] {SUITE});
              parameters.setWantClientAuth(true);
            });
    assertThat(engine.getEnabledProtocols()).containsExactly("TLSv1.2");
    assertThat(engine.getEnabledCipherSuites()).containsExactly(SUITE);
    assertThat(engine.getWantClientAuth()).isTrue();
    assertThat(engine.getNeedClientAuth()).isFalse();
    assertThat(engine(parameters -> parameters.setNeedClientAuth(true)).getNeedClientAuth())
        .isTrue();
  }

  @Test
  @Feature("A2")
  void parametersWinOverTheOldSetters() throws Exception {
    SSLEngine engine =
        engine(
            parameters -> {
              parameters.setProtocols(new String[] {"TLSv1.2"});
              parameters.setNeedClientAuth(true);
              SSLParameters chosen = new SSLParameters();
              chosen.setProtocols(new String[] {"TLSv1.3"});
              parameters.setSSLParameters(chosen);
            });
    assertThat(engine.getEnabledProtocols()).containsExactly("TLSv1.3");
    assertThat(engine.getNeedClientAuth()).isFalse();
  }

  @Test
  @Feature("A2")
  void aConfiguratorThatChoosesNothingGetsTheDefaults() throws Exception {
    SSLEngine engine = engine(parameters -> {});
    SSLEngine untouched = SSLContext.getDefault().createSSLEngine();
    assertThat(engine.getEnabledProtocols()).isEqualTo(untouched.getEnabledProtocols());
    assertThat(engine.getEnabledCipherSuites()).isEqualTo(untouched.getEnabledCipherSuites());
    assertThat(engine.getNeedClientAuth()).isFalse();
    assertThat(engine.getWantClientAuth()).isFalse();
  }

  @Test
  @Feature("A2")
  void unknownNamesAreIgnoredIfTheyComeByTheOldSettersAndRefusedElse() throws Exception {
    SSLEngine engine =
        engine(
            parameters -> {
              parameters.setCipherSuites(new String[] {"NO_SUCH_SUITE"});
              parameters.setProtocols(new String[] {"TLSv1.2"});
            });
    assertThat(engine.getEnabledProtocols()).containsExactly("TLSv1.2");
    assertThat(engine.getEnabledCipherSuites()).contains(SUITE);
    SSLParameters wrong = new SSLParameters(new String[] {"NO_SUCH_SUITE"});
    assertThatIllegalArgumentException()
        .isThrownBy(() -> engine(parameters -> parameters.setSSLParameters(wrong)))
        .withMessageContaining("NO_SUCH_SUITE");
  }
}
