package dev.weft.sim;

import java.util.Arrays;

/** A growing list of numbers. */
final class Numbers {
  private long[] values = new long[32];
  private int size;

  void add(long value) {
    if (size == values.length) {
      values = Arrays.copyOf(values, 2 * size);
    }
    values[size++] = value;
  }

  void clear() {
    size = 0;
  }

  int size() {
    return size;
  }

  long[] toArray() {
    return Arrays.copyOf(values, size);
  }

  int[] toIntArray() {
    int[] copy = new int[size];
    for (int i = 0; i < size; i++) {
      copy[i] = (int) values[i];
    }
    return copy;
  }
}
