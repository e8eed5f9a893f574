package dev.weft.bench.suite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.Body;
import dev.weft.Scheduler;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each kind of crew runs all bodies, and throws the failure of one that fails. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class CrewTest {
  enum Kind {
    FIBERS {
      @Override
      void use(Job job) throws Exception {
        try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
          job.run(Crew.fibersOf(scheduler));
        }
      }
    },
    VIRTUAL_THREADS {
      @Override
      void use(Job job) throws Exception {
        job.run(Crew.virtualThreads());
      }
    },
    PLATFORM_THREADS {
      @Override
      void use(Job job) throws Exception {
        job.run(Crew.platformThreads());
      }
    };

    abstract void use(Job job) throws Exception;
  }

  interface Job {
    void run(Crew crew) throws Exception;
  }

  @ParameterizedTest
  @EnumSource
  void allBodiesHaveRunAtTheEnd(Kind kind) throws Exception {
    AtomicInteger runs = new AtomicInteger();
    kind.use(crew -> crew.run(Collections.nCopies(50, runs::incrementAndGet)));
    assertThat(runs).hasValue(50);
  }

  @ParameterizedTest
  @EnumSource
  void aFailureIsNotLost(Kind kind) {
    Body fine = () -> {};
    Body broken =
        () -> {
          throw new IOException("broken on purpose");
        };
    assertThatThrownBy(() -> kind.use(crew -> crew.run(List.of(fine, broken, fine))))
        .hasRootCauseMessage("broken on purpose");
  }

  @ParameterizedTest
  @EnumSource
  void playersOverQueuesReachTheEnd(Kind kind) throws Exception {
    kind.use(crew -> crew.run(PingPong.overQueues(100)));
  }

  @ParameterizedTest
  @EnumSource
  void playersOverSocketsReachTheEnd(Kind kind) throws Exception {
    PingPong.Ends ends = PingPong.Ends.connect();
    try (var one = ends.one();
        var other = ends.other()) {
      kind.use(crew -> crew.run(PingPong.overSockets(ends, 100)));
      assertThat(one.getInputStream().available()).isZero();
      assertThat(other.getInputStream().available()).isZero();
    }
  }
}
