import org.jspecify.annotations.NullMarked;

/**
 * Weft: coroutines and fibers for Java 25 that you can steer. Only what is exported here is API.
 */
@NullMarked
@SuppressWarnings("module") // dev.weft.console is compiled later
module dev.weft {
  requires static transitive org.jspecify;
  requires org.jctools.core.jdk11;
  requires static com.google.errorprone.annotations; // checked when Weft is compiled
  requires static jdk.jfr;
  requires static java.management; // for the owners of monitors, and beans

  exports dev.weft;
  exports dev.weft.channel;
  exports dev.weft.io;
  exports dev.weft.net;
  exports dev.weft.sync;
  exports dev.weft.time;
  exports dev.weft.internal to
      dev.weft.console;
  exports dev.weft.internal.blocking to
      dev.weft.console;
  exports dev.weft.internal.events to
      dev.weft.console;
  exports dev.weft.internal.sched to
      dev.weft.console;
  exports dev.weft.internal.start to
      dev.weft.console;
  exports dev.weft.internal.watch to
      dev.weft.console;

  uses dev.weft.internal.start.ConsoleStarter;

  provides java.net.spi.InetAddressResolverProvider with
      dev.weft.internal.blocking.BlockingNames;
}
