package dev.weft.internal.beans;

import dev.weft.Scheduler;
import dev.weft.internal.Log;
import java.lang.System.Logger.Level;
import java.lang.management.ManagementFactory;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.MBeanServerFactory;
import javax.management.ObjectName;

/**
 * Registers a bean for each scheduler, late and at low cost: the MBean server of the platform takes
 * a tenth of a second to make, which a program that no JMX client looks at should not spend. So the
 * watchdog asks once a second whether the program, or an agent in it, has made that server, and
 * only then registers the beans. In a JVM without the module {@code java.management} nothing
 * happens.
 *
 * <p>Considered and refused: to register when a scheduler starts (makes the server), and a system
 * property that asks for it (an operator attaches to a process that was started without it).
 *
 * <p>A failure is logged once and ends all registering: beans never fail the watchdog.
 */
public final class SchedulerBeans {
  /** How often to look for an MBean server; a program that ends earlier pays nothing. */
  private static final long LOOK_NANOS = 1_000_000_000;

  private static final String DOMAIN = "dev.weft";

  private static boolean available =
      ModuleLayer.boot().findModule("java.management").isPresent(); // guarded by the class
  private static long nextLook = System.nanoTime() + LOOK_NANOS;
  private static final Map<Scheduler, Object> NAMES = new HashMap<>();

  private SchedulerBeans() {}

  /** Registers what is not registered yet; called by the watchdog at each look. */
  public static synchronized void update(Collection<? extends Scheduler> schedulers, long now) {
    if (!available || now - nextLook < 0) {
      return;
    }
    nextLook = now + LOOK_NANOS;
    try {
      Registry.update(schedulers, NAMES);
    } catch (LinkageError e) { // Weft's module does not read java.management
      available = false;
    } catch (Throwable e) {
      available = false;
      Log.logger().log(Level.ERROR, "Weft's JMX beans are off from now on", e);
    }
  }

  /** Removes the bean of a scheduler that has stopped. */
  public static synchronized void forget(Scheduler scheduler) {
    Object name = NAMES.remove(scheduler);
    if (name != null) {
      Registry.unregister(name);
    }
  }

  /** A class of its own: {@code java.management} may be missing. */
  private static final class Registry {
    private Registry() {}

    static void update(Collection<? extends Scheduler> schedulers, Map<Scheduler, Object> names)
        throws JMException {
      if (MBeanServerFactory.findMBeanServer(null).isEmpty()) {
        return;
      }
      MBeanServer server = ManagementFactory.getPlatformMBeanServer();
      for (Scheduler scheduler : schedulers) {
        if (!names.containsKey(scheduler)) {
          ObjectName name = freeName(server, scheduler.name());
          server.registerMBean(new SchedulerBean(scheduler), name);
          names.put(scheduler, name);
        }
      }
      ObjectName helpers = new ObjectName(DOMAIN, "type", "Helpers");
      if (!server.isRegistered(helpers)) {
        server.registerMBean(new HelpersBean(), helpers);
      }
    }

    private static ObjectName freeName(MBeanServer server, String scheduler) throws JMException {
      String first = DOMAIN + ":type=Scheduler,name=" + ObjectName.quote(scheduler);
      ObjectName name = new ObjectName(first);
      for (int number = 2; server.isRegistered(name); number++) {
        name = new ObjectName(first + ",number=" + number);
      }
      return name;
    }

    static void unregister(Object name) {
      try {
        ManagementFactory.getPlatformMBeanServer().unregisterMBean((ObjectName) name);
      } catch (JMException e) {
        // the program has removed the bean itself
      }
    }
  }
}
