package dev.weft.bench.report;

/** Chooses round numbers for an axis. */
final class Ticks {
  private Ticks() {}

  /**
   * Returns the step of 1, 2 or 5 times a power of ten that divides the axis into 4 to 10 parts.
   */
  static double size(double axis) {
    double step = Math.pow(10, Math.floor(Math.log10(axis)));
    if (axis / step < 2) {
      return step / 5;
    }
    return axis / step < 5 ? step / 2 : step;
  }
}
