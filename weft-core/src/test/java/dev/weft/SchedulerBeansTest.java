package dev.weft;

import static dev.weft.Eventually.eventually;
import static dev.weft.Eventually.waits;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.management.JMX;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.jctools.queues.MessagePassingQueue;
import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;
import org.junit.jupiter.api.Test;

/** The JMX beans of schedulers and helpers. */
@Feature("O4")
class SchedulerBeansTest {
  private static final MBeanServer SERVER = ManagementFactory.getPlatformMBeanServer();

  private static ObjectName name(String scheduler) throws Exception {
    return new ObjectName("dev.weft:type=Scheduler,name=" + ObjectName.quote(scheduler));
  }

  @Test
  void aStartedSchedulerHasABeanUntilItHasStopped() throws Exception {
    ObjectName name = name("with a bean, \"quoted\"");
    CountDownLatch release = new CountDownLatch(1);
    try (Scheduler scheduler =
        Scheduler.builder().threads(2).name("with a bean, \"quoted\"").build().start()) {
      eventually("the bean is there", () -> SERVER.isRegistered(name));
      Fiber<?> sleeper =
          scheduler.go(
              FiberOptions.named("sleeper"),
              () -> {
                try {
                  Fiber.sleep(Duration.ofHours(1));
                } catch (InterruptedException e) {
                  // cancelled below
                }
              });
      waits(sleeper);
      waits(scheduler.go(FiberOptions.named("waiter"), () -> release.await()));
      // @start region="proxy"
      SchedulerMXBean bean = JMX.newMXBeanProxy(SERVER, name, SchedulerMXBean.class);
      // @end region="proxy"
      eventually("the last look is old", () -> bean.getBegun() == 2);
      assertThat(bean.getName()).isEqualTo("with a bean, \"quoted\"");
      assertThat(bean.getSleeping()).isEqualTo(1);
      assertThat(bean.getWaiting()).isEqualTo(1);
      assertThat(bean.getReady() + bean.getRunning() + bean.getBlocking()).isZero();
      assertThat(bean.getAwaitingHelper() + bean.getRescues() + bean.getApart()).isZero();
      assertThat(bean.getEnded()).isZero();
      assertThat(bean.getTimers()).isEqualTo(1);
      assertThat(bean.getSwitches()).isGreaterThanOrEqualTo(2);
      assertThat(bean.getStolen()).isNotNegative();
      assertThat(bean.getThreads()).extracting(SchedulerStats.OfThread::index).contains(0, 1);
      assertThat(bean.dump()).contains("waiter", "sleeper", "SchedulerBeansTest");
      assertThat(bean.groupedDump()).contains("fibers on", "waiter", "SchedulerBeansTest");
      release.countDown();
      sleeper.cancel();
    }
    assertThat(SERVER.isRegistered(name)).isFalse();
  }

  @Test
  @Feature("S28")
  void theBeanCountsFibersThatAreSetApart() throws Exception {
    ObjectName name = name("computes");
    CountDownLatch apart = new CountDownLatch(1);
    AtomicBoolean seen = new AtomicBoolean();
    try (Scheduler scheduler = Scheduler.builder().threads(2).name("computes").build().start()) {
      eventually("the bean is there", () -> SERVER.isRegistered(name));
      SchedulerMXBean bean = JMX.newMXBeanProxy(SERVER, name, SchedulerMXBean.class);
      Fiber<?> fiber =
          scheduler.go(
              () -> {
                while (!seen.get()) {
                  long end = System.nanoTime() + 20_000_000;
                  while (System.nanoTime() < end) {
                    Thread.onSpinWait();
                  }
                  Fiber.yield();
                  if (Fiber.threadIndex() == -1) {
                    apart.countDown();
                  }
                }
              });
      apart.await();
      eventually("the fiber is counted", () -> bean.getApart() == 1);
      seen.set(true);
      fiber.join();
      eventually("the fiber has ended", () -> bean.getApart() == 0);
    }
  }

  @Test
  void twoSchedulersOfOneNameHaveTwoBeans() throws Exception {
    ObjectName all = new ObjectName(name("twice").getCanonicalName() + ",*");
    try (Scheduler one = Scheduler.builder().name("twice").build().start();
        Scheduler other = Scheduler.builder().name("twice").build().start()) {
      assertThat(one.name()).isEqualTo(other.name());
      eventually("both beans are there", () -> SERVER.queryNames(all, null).size() == 2);
    }
    assertThat(SERVER.queryNames(all, null)).isEmpty();
  }

  @Test
  void theHelpersHaveABean() throws Exception {
    ObjectName name = new ObjectName("dev.weft:type=Helpers");
    try (Scheduler scheduler = Scheduler.builder().threads(1).build().start()) {
      eventually("the bean is there", () -> SERVER.isRegistered(name));
      HelpersMXBean bean = JMX.newMXBeanProxy(SERVER, name, HelpersMXBean.class);
      int threads = scheduler.go(() -> Weft.blocking(bean::getThreads)).join();
      assertThat(threads).isPositive();
      assertThat(bean.getLimit()).isGreaterThanOrEqualTo(threads);
      assertThat(bean.getQueued()).isZero();
    }
  }

  /** Runs for longer than a second, so that the watchdog looks for an MBean server. */
  static final class Program {
    public static void main(String[] args) throws Exception {
      Weft.run(() -> Fiber.sleep(Duration.ofMillis(1_500)));
      System.out.println("ran");
    }
  }

  @Test
  void withoutAnMBeanServerNoneIsMade() throws Exception {
    ForkedJvm.Result result = runProgram("-Xlog:class+load");
    assertThat(result.output())
        .contains("ran", "javax.management.MBeanServerFactory")
        .doesNotContain("com.sun.jmx.mbeanserver.JmxMBeanServer ");
  }

  @Test
  void withoutTheModuleFibersRunAndNothingIsSaid() throws Exception {
    ForkedJvm.Result result = runProgram("--limit-modules=java.base");
    assertThat(result.output()).isEqualTo("ran\n");
  }

  private static ForkedJvm.Result runProgram(String flag) throws Exception {
    ForkedJvm.Result result =
        ForkedJvm.java(
            flag,
            ForkedJvm.weftArgs(),
            "-cp",
            ForkedJvm.classPathOf(
                Weft.class,
                Program.class,
                MessagePassingQueue.class,
                MpscUnboundedVarHandleArrayQueue.class),
            Program.class.getName());
    assertThat(result.exitStatus()).as(result.output()).isZero();
    return result;
  }
}
