package dev.weft.sim;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.TestTemplate;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A JUnit test that is run in a simulation, once for each seed, until a run fails. The method may
 * take a {@link Simulation}.
 *
 * {@snippet class="dev.weft.sim.SimulationSnippetsTest" region="annotation"}
 *
 * <p>Each run has a new instance of the test class. Methods with {@code @BeforeEach} and
 * {@code @AfterEach} are called in each run, inside the simulation.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@TestTemplate
@ExtendWith(WeftSimulationExtension.class)
public @interface WeftSimulation {
  /** How many seeds to run. The system property {@code weft.sim.seeds} overrides it. */
  int seeds() default 1_000;

  /** The first seed. */
  long firstSeed() default 1;

  /** The packages, or classes, whose operations are points where a fiber may stop. */
  String[] points() default {};

  /** After how many slices and points a run counts as endless. */
  long maxSteps() default SimulationOptions.MAX_STEPS;

  /** Whether timers may fire although fibers can go on: a timeout then races computation. */
  boolean timersEarly() default false;

  /** Replays one run: {@code seed:42}, or a schedule as a report prints it. Empty: explores. */
  String replay() default "";
}
