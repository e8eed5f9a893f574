package dev.weft.bench.echo;

import dev.weft.Body;
import dev.weft.Scheduler;
import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** An echo server of fibers, with other fibers that compute. */
final class MixedServer implements EchoServer {
  private final Scheduler.Builder echo;
  private final boolean apart;
  private volatile @Nullable Scheduler computing; // once started

  private MixedServer(Scheduler.Builder echo, boolean apart) {
    this.echo = echo;
    this.apart = apart;
  }

  /** All fibers on one scheduler, as it is by default. */
  static MixedServer byDefault() {
    return new MixedServer(Scheduler.builder(), false);
  }

  /** All fibers on one scheduler, which sets none apart. */
  static MixedServer together() {
    return new MixedServer(Scheduler.builder().separateComputing(false), false);
  }

  /** The computing fibers on a scheduler of their own, with as many threads. */
  static MixedServer apart() {
    return new MixedServer(Scheduler.builder(), true);
  }

  @Override
  public void start(int threads, int buffer) throws IOException {
    Scheduler scheduler = echo.name("echo").threads(threads).build().start();
    computing =
        apart ? Scheduler.builder().name("computing").threads(threads).build().start() : scheduler;
    WeftServer.serve(scheduler, 1, false, buffer);
  }

  @Override
  public void compute(Body body) {
    Objects.requireNonNull(computing).go(body);
  }
}
