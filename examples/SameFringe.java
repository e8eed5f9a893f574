import dev.weft.*;
import dev.weft.Generator.Emitter;

/**
 * Do two trees of different shape have the same leaves in the same order? Two recursive walks
 * advance in step, one leaf at a time, and stop at the first difference: hard with callbacks, simple
 * with coroutines.
 */
sealed interface Tree {}

record Leaf(String name) implements Tree {}

record Fork(Tree left, Tree right) implements Tree {}

void walk(Tree tree, Emitter<String> leaves) {
  switch (tree) {
    case Leaf(String name) -> leaves.emit(name);
    case Fork(Tree left, Tree right) -> {
      walk(left, leaves);
      walk(right, leaves);
    }
  }
}

boolean sameFringe(Tree one, Tree other) {
  try (Generator<String> a = Generator.of(leaves -> walk(one, leaves));
      Generator<String> b = Generator.of(leaves -> walk(other, leaves))) {
    while (a.hasNext() && b.hasNext()) {
      if (!a.next().equals(b.next())) {
        return false;
      }
    }
    return a.hasNext() == b.hasNext();
  }
}

void main() {
  var warp = new Leaf("warp");
  var weft = new Leaf("weft");
  var loom = new Leaf("loom");
  var leftish = new Fork(new Fork(warp, weft), loom);
  var rightish = new Fork(warp, new Fork(weft, loom));
  var other = new Fork(warp, new Fork(loom, weft));
  IO.println("left and right: " + sameFringe(leftish, rightish));
  IO.println("right and other: " + sameFringe(rightish, other));
}
