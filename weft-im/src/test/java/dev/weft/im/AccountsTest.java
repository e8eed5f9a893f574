package dev.weft.im;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.im.Refusal.Code;
import dev.weft.testkit.Feature;
import java.security.spec.KeySpec;
import java.time.Duration;
import java.util.Base64;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Passwords and tokens. */
@Feature("A4")
class AccountsTest {
  private static final String PASSWORD = "correct-horse";

  private final SqlStore store =
      SqlStore.open("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
  private final AtomicLong clock = new AtomicLong();
  private final Accounts accounts =
      new Accounts(store, new HashLane(1, 100, Duration.ofSeconds(30)), new LoginGuard(clock::get));

  @AfterEach
  void close() {
    store.close();
  }

  @Test
  void aPasswordIsStoredAsArgon2id() throws Exception {
    accounts.register("p", "ann", PASSWORD);
    String secret = store.secret("ann").orElseThrow();
    assertThat(secret).matches("\\$argon2id\\$v=19\\$m=19456,t=2,p=1\\$[A-Za-z0-9+/]{22}\\$.{43}");
    assertThat(Passwords.matches(PASSWORD, secret)).isTrue();
    assertThat(Passwords.matches("Correct-horse", secret)).isFalse();
    assertThat(Passwords.matches(PASSWORD, null)).isFalse();
    assertThat(Passwords.secretOf(PASSWORD)).isNotEqualTo(secret);
    assertThat(Passwords.isOutdated(secret)).isFalse();
  }

  @Test
  void aHashOfAnEarlierVersionIsReplacedAtLogin() throws Exception {
    byte[] salt = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    KeySpec spec = new PBEKeySpec(PASSWORD.toCharArray(), salt, 1000, 256);
    byte[] hash =
        SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256").generateSecret(spec).getEncoded();
    Base64.Encoder base64 = Base64.getEncoder().withoutPadding();
    String old =
        "pbkdf2-sha256$1000$" + base64.encodeToString(salt) + "$" + base64.encodeToString(hash);
    store.addUser("ann", "ann", old);
    assertThatThrownBy(() -> accounts.login("p", "ann", "wrong-password"))
        .isInstanceOf(Refusal.class);
    assertThat(store.secret("ann")).hasValue(old);
    accounts.login("p", "ann", PASSWORD);
    assertThat(store.secret("ann").orElseThrow()).startsWith("$argon2id$");
    accounts.login("p", "ann", PASSWORD);
  }

  /** After some wrong ones not even the right one is looked at: nothing is computed. */
  @Test
  void manyWrongPasswordsCloseTheDoorForAWhile() throws Exception {
    accounts.register("home", "ann", PASSWORD);
    for (int i = 0; i <= LoginGuard.FREE; i++) {
      assertThatThrownBy(() -> accounts.login("away", "ann", "wrong-password"))
          .isInstanceOfSatisfying(Refusal.class, e -> assertThat(e.code()).isEqualTo(Code.DENIED));
    }
    assertThatThrownBy(() -> accounts.login("away", "ann", PASSWORD))
        .isInstanceOfSatisfying(Refusal.class, e -> assertThat(e.code()).isEqualTo(Code.LIMIT))
        .hasMessageContaining("try again in 2 s");
    accounts.login("home", "ann", PASSWORD);
    clock.addAndGet(Duration.ofSeconds(1).toNanos());
    accounts.login("away", "ann", PASSWORD);
  }

  @Test
  void tokensAreStoredAsDigestsAndExpire() throws Exception {
    String token = accounts.newToken("ann");
    assertThat(accounts.resume(token)).isEqualTo("ann");
    assertThat(store.token(token)).isEmpty();
    accounts.forget(token);
    assertThatThrownBy(() -> accounts.resume(token)).isInstanceOf(Refusal.class);
  }
}
