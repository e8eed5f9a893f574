package dev.weft.im;

import dev.weft.Fiber;
import java.lang.System.Logger.Level;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisException;

/** The way to a Redis that may be gone for a while: makes connections, again and again. */
final class RedisLink {
  private static final System.Logger LOG = System.getLogger("dev.weft.im");
  private static final Duration FIRST_PAUSE = Duration.ofMillis(50);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(2);

  private final URI url;
  private final int limitMillis;

  // true since a failure, until something works again: each trouble is told once
  private final AtomicBoolean troubled = new AtomicBoolean();

  /** Creates one with answers that may take so long, but a second at least. */
  RedisLink(String url, Duration limit) {
    this.url = URI.create(url);
    this.limitMillis = Math.clamp(limit.toMillis(), 1_000, 10_000);
  }

  /** Uses connection after connection, with longer and longer pauses, until it is over. */
  void use(Consumer<Jedis> body, BooleanSupplier isOver) throws InterruptedException {
    Duration pause = FIRST_PAUSE;
    while (!isOver.getAsBoolean()) {
      long start = System.nanoTime();
      try (Jedis jedis = connect()) {
        body.accept(jedis);
      } catch (JedisException e) {
        if (!isOver.getAsBoolean() && troubled.compareAndSet(false, true)) {
          LOG.log(Level.WARNING, "Redis fails: nodes hear of each other later; told once", e);
        }
      }
      if (System.nanoTime() - start > LONGEST_PAUSE.toNanos()) {
        pause = FIRST_PAUSE; // it has worked for a while
      }
      if (!isOver.getAsBoolean()) {
        Fiber.sleep(pause);
        pause = pause.multipliedBy(2);
        pause = pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE;
      }
    }
  }

  private Jedis connect() {
    return new Jedis(
        url,
        DefaultJedisClientConfig.builder()
            .connectionTimeoutMillis(limitMillis)
            .socketTimeoutMillis(limitMillis)
            .build());
  }

  /** Notes that all is well. */
  void works() {
    if (troubled.compareAndSet(true, false)) {
      LOG.log(Level.INFO, "Redis works again");
    }
  }
}
