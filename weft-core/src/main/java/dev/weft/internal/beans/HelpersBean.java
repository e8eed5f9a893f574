package dev.weft.internal.beans;

import dev.weft.HelpersMXBean;
import dev.weft.internal.blocking.Helpers;

/** The bean of the helpers of this JVM. */
final class HelpersBean implements HelpersMXBean {
  @Override
  public int getThreads() {
    return Helpers.ofJvm().threads();
  }

  @Override
  public int getLimit() {
    return Helpers.ofJvm().limit();
  }

  @Override
  public int getQueued() {
    return Helpers.ofJvm().queued();
  }
}
