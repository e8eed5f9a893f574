import org.jspecify.annotations.NullMarked;

/** Micrometer meters of Weft's schedulers. */
@NullMarked
module dev.weft.micrometer {
  requires transitive dev.weft;
  requires transitive micrometer.core;

  exports dev.weft.micrometer;
}
