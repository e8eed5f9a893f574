package dev.weft.im;

import dev.weft.Weft;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Passwords as they are stored: {@code pbkdf2-sha256$rounds$salt$hash}. To compute one takes a core
 * for some ten milliseconds, so it is done on a helper thread and holds none of the scheduler's.
 */
final class Passwords {
  private static final String KIND = "pbkdf2-sha256";
  private static final int ROUNDS = 120_000;
  private static final int SALT_BYTES = 16;
  private static final int HASH_BITS = 256;
  private static final SecureRandom RANDOM = new SecureRandom();

  /** Stands for the secret of a user who does not exist: to refuse one takes as long. */
  private static final String NOBODY =
      KIND + "$" + ROUNDS + "$" + encode(new byte[SALT_BYTES]) + "$";

  private Passwords() {}

  /** Returns what is to be stored. */
  static String secretOf(String password) {
    byte[] salt = new byte[SALT_BYTES];
    RANDOM.nextBytes(salt);
    byte[] hash = hash(password, salt, ROUNDS);
    return KIND + "$" + ROUNDS + "$" + encode(salt) + "$" + encode(hash);
  }

  /** Returns whether it is the password; never, but as slowly, if there is no secret. */
  static boolean matches(String password, @Nullable String secret) {
    String[] parts = (secret == null ? NOBODY : secret).split("\\$", -1);
    if (parts.length != 4 || !parts[0].equals(KIND)) {
      throw new IllegalStateException("a stored password must be " + KIND + "$rounds$salt$hash");
    }
    byte[] salt = Base64.getDecoder().decode(parts[2]);
    byte[] hash = hash(password, salt, Integer.parseInt(parts[1]));
    return MessageDigest.isEqual(hash, Base64.getDecoder().decode(parts[3]));
  }

  private static byte[] hash(String password, byte[] salt, int rounds) {
    PBEKeySpec spec = new PBEKeySpec(password.toCharArray(), salt, rounds, HASH_BITS);
    try {
      return Weft.blocking(
          () ->
              SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256")
                  .generateSecret(spec)
                  .getEncoded());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this Java has no PBKDF2WithHmacSHA256", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted before a password's hash was computed", e);
    } catch (Exception e) {
      throw new IllegalStateException("cannot compute a password's hash", e);
    } finally {
      spec.clearPassword();
    }
  }

  private static String encode(byte[] bytes) {
    return Base64.getEncoder().withoutPadding().encodeToString(bytes);
  }
}
