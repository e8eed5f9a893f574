package dev.weft.testkit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Names the rows of {@code docs/features.md} that a test proves. */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
public @interface Feature {
  /** The ids of the rows, such as {@code "S4"}. */
  String[] value();
}
