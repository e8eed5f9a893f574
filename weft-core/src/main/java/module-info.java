import org.jspecify.annotations.NullMarked;

/**
 * Weft: coroutines and fibers for Java 25 that you can steer. Only what is exported here is API.
 */
@NullMarked
module dev.weft {
  requires static transitive org.jspecify;
  requires org.jctools.core.jdk11;
  requires static jdk.jfr;
  requires static java.management; // for the owners of monitors, in dumps

  exports dev.weft;
  exports dev.weft.channel;
  exports dev.weft.io;
  exports dev.weft.net;
  exports dev.weft.sync;
  exports dev.weft.time;

  provides java.net.spi.InetAddressResolverProvider with
      dev.weft.internal.blocking.BlockingNames;
}
