import dev.weft.*;

/** An endless sequence, written as a plain loop; it runs only as far as the consumer takes elements. */
void main() {
  Generator<Long> fibonacci = Generator.of(sequence -> {
    long a = 0;
    long b = 1;
    while (true) {
      sequence.emit(a);
      b = a + b;
      a = b - a;
    }
  });
  try (var numbers = fibonacci.stream()) {
    numbers.limit(12).forEach(IO::println);
  }
}
