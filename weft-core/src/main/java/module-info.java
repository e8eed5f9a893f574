import org.jspecify.annotations.NullMarked;

/**
 * Weft: coroutines and fibers for Java 25 that you can steer. Only what is exported here is API.
 */
@NullMarked
module dev.weft {
  requires static transitive org.jspecify;

  exports dev.weft;
}
