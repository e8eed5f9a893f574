package dev.weft.cli;

/**
 * The program that the build of {@code ./weft} runs to learn what the JVM needs to start one. It
 * does what every program does and no more: what the JVM then has at once costs a little too.
 */
final class Training {
  private Training() {}

  static void main() {
    System.out.println("done");
  }
}
