package dev.weft.im;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import org.bouncycastle.crypto.generators.Argon2BytesGenerator;
import org.bouncycastle.crypto.params.Argon2Parameters;
import org.jspecify.annotations.Nullable;

/**
 * Passwords as they are stored: {@code $argon2id$v=19$m=19456,t=2,p=1$salt$hash}, which is the form
 * that other Argon2 libraries write too. Memory and rounds are those that OWASP's Password Storage
 * Cheat Sheet advises. To compute one takes a core for some ten milliseconds and 19 MiB: see {@link
 * HashLane}.
 *
 * <p>Earlier versions stored {@code pbkdf2-sha256$rounds$salt$hash}; {@link #isOutdated} tells.
 */
final class Passwords {
  private static final String OLD_KIND = "pbkdf2-sha256";
  private static final int MEMORY_KIB = 19 * 1024;
  private static final int ROUNDS = 2;
  private static final int LANES = 1;
  private static final String KIND =
      "$argon2id$v=%d$m=%d,t=%d,p=%d$"
          .formatted(Argon2Parameters.ARGON2_VERSION_13, MEMORY_KIB, ROUNDS, LANES);
  private static final int SALT_BYTES = 16;
  private static final int HASH_BYTES = 32;
  private static final SecureRandom RANDOM = new SecureRandom();

  /** Stands for the secret of a user that does not exist: to refuse it takes as long. */
  private static final String NOBODY = KIND + encode(new byte[SALT_BYTES]) + "$";

  private Passwords() {}

  /** Returns what is to be stored. */
  static String secretOf(String password) {
    byte[] salt = new byte[SALT_BYTES];
    RANDOM.nextBytes(salt);
    return KIND + encode(salt) + "$" + encode(argon2(password, salt));
  }

  /** Returns whether a stored password should be replaced by a new one of the same password. */
  static boolean isOutdated(String secret) {
    return !secret.startsWith(KIND);
  }

  /** Returns whether it is the password; never, but as slowly, if there is no secret. */
  static boolean matches(String password, @Nullable String secret) {
    String stored = secret == null ? NOBODY : secret;
    boolean isOld = stored.startsWith(OLD_KIND + "$");
    if (!isOld && !stored.startsWith(KIND)) {
      throw new IllegalStateException(
          "a stored password must begin with %s or %s$".formatted(KIND, OLD_KIND));
    }
    String[] parts = stored.split("\\$", -1);
    byte[] salt = Base64.getDecoder().decode(parts[parts.length - 2]);
    byte[] expected = Base64.getDecoder().decode(parts[parts.length - 1]);
    byte[] hash =
        isOld ? pbkdf2(password, salt, Integer.parseInt(parts[1])) : argon2(password, salt);
    return MessageDigest.isEqual(hash, expected);
  }

  private static byte[] argon2(String password, byte[] salt) {
    Argon2BytesGenerator generator = new Argon2BytesGenerator();
    generator.init(
        new Argon2Parameters.Builder(Argon2Parameters.ARGON2_id)
            .withVersion(Argon2Parameters.ARGON2_VERSION_13)
            .withMemoryAsKB(MEMORY_KIB)
            .withIterations(ROUNDS)
            .withParallelism(LANES)
            .withSalt(salt)
            .build());
    byte[] hash = new byte[HASH_BYTES];
    generator.generateBytes(password.getBytes(StandardCharsets.UTF_8), hash);
    return hash;
  }

  private static byte[] pbkdf2(String password, byte[] salt, int rounds) {
    PBEKeySpec spec = new PBEKeySpec(password.toCharArray(), salt, rounds, 8 * HASH_BYTES);
    try {
      return SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256").generateSecret(spec).getEncoded();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this Java has no PBKDF2WithHmacSHA256", e);
    } finally {
      spec.clearPassword();
    }
  }

  private static String encode(byte[] bytes) {
    return Base64.getEncoder().withoutPadding().encodeToString(bytes);
  }
}
