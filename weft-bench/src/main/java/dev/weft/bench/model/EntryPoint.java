package dev.weft.bench.model;

/**
 * Where the code of a measurement begins that runs with the measured build of Weft.
 *
 * @param method the name of the only method that is called; empty if any of the class may be
 */
public record EntryPoint(Class<?> owner, String method) {
  /** All methods of a class. */
  public EntryPoint(Class<?> owner) {
    this(owner, "");
  }
}
