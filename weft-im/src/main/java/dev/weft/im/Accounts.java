package dev.weft.im;

import dev.weft.Fiber;
import dev.weft.im.Refusal.Code;
import dev.weft.im.Store.StoreException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Users, and how they log in: by a password, which is expensive to check, or by a token that the
 * server gave them after that, which is cheap. A token is 256 random bits; the store has its
 * SHA-256, so a stolen database lets nobody in.
 */
final class Accounts {
  private static final Duration TOKEN_LIFE = Duration.ofDays(30);
  private static final int TOKEN_BYTES = 32;

  /** How long the answer to a try that came too soon is held back at most. */
  private static final Duration LONGEST_HOLD = Duration.ofSeconds(2);

  private static final SecureRandom RANDOM = new SecureRandom();

  private final Store store;
  private final HashLane lane;
  private final LoginGuard guard;

  Accounts(Store store, HashLane lane, LoginGuard guard) {
    this.store = store;
    this.lane = lane;
    this.guard = guard;
  }

  /** Makes a user, unless too many were made at that place just now. */
  void register(String place, String name, String password) throws Refusal, InterruptedException {
    Names.checkNew(name);
    String skeleton = Names.skeleton(name);
    Optional<String> rival = store.userLike(skeleton);
    if (rival.isPresent() || store.secret(name).isPresent()) {
      throw exists(name, rival.orElse(name));
    }
    Duration pause = guard.tryAccount(place);
    if (pause.isPositive()) {
      hold(pause);
      throw new Refusal(
          Code.LIMIT,
          "too many new accounts from your address; try again in %d s"
              .formatted(pause.toSeconds() + 1));
    }
    String secret = lane.run(place, () -> Passwords.secretOf(password));
    if (!store.addUser(name, skeleton, secret)) {
      throw exists(name, name);
    }
    guard.succeeded(place, name);
  }

  private static Refusal exists(String name, String rival) {
    return new Refusal(
        Code.EXISTS,
        rival.equals(name)
            ? "there is a user " + name + "; choose another name"
            : "there is a user with a name like " + name + "; choose another name");
  }

  /** Returns if it is the password of the user; an outdated hash is replaced. */
  void login(String place, String name, String password) throws Refusal, InterruptedException {
    Duration pause = guard.pauseBefore(place, name);
    if (pause.isPositive()) {
      hold(pause);
      throw tooSoon(pause);
    }
    String secret = store.secret(name).orElse(null);
    boolean isRight =
        lane.run(
            place,
            () -> {
              Duration now = guard.pauseBefore(place, name);
              if (now.isPositive()) {
                throw tooSoon(now); // others were wrong while this one waited for its turn
              }
              boolean matches = Passwords.matches(password, secret);
              if (!matches) {
                guard.failed(place, name);
              }
              return matches;
            });
    if (!isRight) {
      throw new Refusal(Code.DENIED, "no such user, or a wrong password");
    }
    guard.succeeded(place, name);
    upgrade(place, name, password, secret);
  }

  private static void hold(Duration pause) throws InterruptedException {
    Fiber.sleep(pause.compareTo(LONGEST_HOLD) < 0 ? pause : LONGEST_HOLD);
  }

  private static Refusal tooSoon(Duration pause) {
    return new Refusal(
        Code.LIMIT,
        "too many wrong passwords from your address or for this name; try again in %d s"
            .formatted(pause.toSeconds() + 1));
  }

  private void upgrade(String place, String name, String password, @Nullable String secret)
      throws InterruptedException {
    if (secret != null && Passwords.isOutdated(secret)) {
      try {
        store.setSecret(name, lane.run(place, () -> Passwords.secretOf(password)));
      } catch (StoreException | Refusal e) {
        // the old one is as good as it was; the next login tries again
      }
    }
  }

  /** Returns a new token of a user. */
  String newToken(String user) {
    byte[] bytes = new byte[TOKEN_BYTES];
    RANDOM.nextBytes(bytes);
    String token = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    store.addToken(digest(token), user, System.currentTimeMillis() + TOKEN_LIFE.toMillis());
    return token;
  }

  /** Returns the user that has a token, which gets a longer life if half of it is over. */
  String resume(String token) throws Refusal {
    long now = System.currentTimeMillis();
    Store.Token known =
        store
            .token(digest(token))
            .filter(found -> found.expires() > now)
            .orElseThrow(
                () -> new Refusal(Code.DENIED, "no such token, or it has expired; LOGIN again"));
    if (known.expires() - now < TOKEN_LIFE.toMillis() / 2) {
      try {
        store.addToken(digest(token), known.user(), now + TOKEN_LIFE.toMillis());
      } catch (StoreException e) {
        // it is still good for a while
      }
    }
    return known.user();
  }

  /** Returns how many hashes of passwords were asked for and had their turn. */
  long hashes() {
    return lane.done();
  }

  /** Returns how many hashes of passwords wait for their turn. */
  int waiting() {
    return lane.waiting();
  }

  void forget(String token) {
    store.removeToken(digest(token));
  }

  private static String digest(String token) {
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(hash);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
