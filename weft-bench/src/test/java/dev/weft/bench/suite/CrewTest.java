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

/** Whoever does the work of the benchmarks does all of it, and says so if it cannot. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class CrewTest {
  enum Who {
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
  void allBodiesHaveRunAtTheEnd(Who who) throws Exception {
    AtomicInteger runs = new AtomicInteger();
    who.use(crew -> crew.run(Collections.nCopies(50, runs::incrementAndGet)));
    assertThat(runs).hasValue(50);
  }

  @ParameterizedTest
  @EnumSource
  void aFailureIsNotLost(Who who) {
    Body fine = () -> {};
    Body broken =
        () -> {
          throw new IOException("broken on purpose");
        };
    assertThatThrownBy(() -> who.use(crew -> crew.run(List.of(fine, broken, fine))))
        .hasRootCauseMessage("broken on purpose");
  }

  @ParameterizedTest
  @EnumSource
  void playersOverQueuesReachTheEnd(Who who) throws Exception {
    who.use(crew -> crew.run(PingPong.overQueues(100)));
  }

  @ParameterizedTest
  @EnumSource
  void playersOverSocketsReachTheEnd(Who who) throws Exception {
    PingPong.Ends ends = PingPong.Ends.connect();
    try (var one = ends.one();
        var other = ends.other()) {
      who.use(crew -> crew.run(PingPong.overSockets(ends, 100)));
      assertThat(one.getInputStream().available()).isZero();
      assertThat(other.getInputStream().available()).isZero();
    }
  }
}
