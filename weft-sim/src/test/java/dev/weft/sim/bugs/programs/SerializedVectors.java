package dev.weft.sim.bugs.programs;

import dev.weft.sim.bugs.KnownBug;
import dev.weft.sim.bugs.KnownBug.Kind;
import dev.weft.sim.bugs.Together;
import java.util.ArrayList;
import java.util.List;

/**
 * Two collections hold each other; each is written under its own lock, and its content with it.
 *
 * <p>After JaConTeBe JDK-6934356 (Vector.writeObject).
 */
final class SerializedVectors {
  static final KnownBug BUG =
      KnownBug.of(
          SerializedVectors.class,
          "JaConTeBe JDK-6934356 (Vector.writeObject)",
          Kind.DEADLOCK,
          () -> run(new Box()),
          () -> run(new FixedBox()));

  private SerializedVectors() {}

  private static void run(Box left) throws Exception {
    Box right = left.twin();
    left.add(right);
    right.add(left);
    left.other = right;
    Together.run(left, b -> b.write(1), b -> b.other.write(1));
  }

  private static class Box {
    private final List<Box> content = new ArrayList<>();
    Box other;

    Box twin() {
      return new Box();
    }

    synchronized void add(Box box) {
      content.add(box);
    }

    synchronized List<Box> copy() {
      return new ArrayList<>(content);
    }

    void write(int depth) {
      synchronized (this) {
        writeAll(content, depth);
      }
    }

    void writeAll(List<Box> boxes, int depth) {
      if (depth > 0) {
        for (Box box : boxes) {
          box.write(depth - 1);
        }
      }
    }
  }

  private static final class FixedBox extends Box {
    @Override
    Box twin() {
      return new FixedBox();
    }

    @Override
    void write(int depth) {
      writeAll(copy(), depth);
    }
  }
}
