package dev.weft.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.junit.jupiter.api.Test;

class SpreadTest {
  @Test
  void medianOfAnOddNumberIsTheMiddleOne() {
    assertThat(Spread.of(List.of(9.0, 1.0, 2.0))).isEqualTo(new Spread(1, 2, 9));
  }

  @Test
  void medianOfAnEvenNumberIsBetweenTheTwoInTheMiddle() {
    assertThat(Spread.of(List.of(4.0, 1.0, 2.0, 100.0))).isEqualTo(new Spread(1, 3, 100));
  }

  @Test
  void aSingleNumberIsItsOwnSpread() {
    assertThat(Spread.of(List.of(7.0))).isEqualTo(new Spread(7, 7, 7));
  }

  @Test
  void noNumberHasNone() {
    assertThatIllegalArgumentException().isThrownBy(() -> Spread.of(List.of()));
  }

  @Test
  void numbersShowThreeDigitsThatMatter() {
    assertThat(List.of(13_708.4, 142.4, 99.96, 14.23, 1.158, 0.96, 0.0161))
        .extracting(Numbers::text)
        .containsExactly("13,708", "142", "100", "14.2", "1.16", "0.96", "0.016");
  }

  @Test
  void ticksAreRoundAndFew() {
    assertThat(List.of(1.5, 4.0, 60.0, 182.0, 640.0))
        .extracting(Ticks::size)
        .containsExactly(0.2, 0.5, 10.0, 20.0, 100.0);
  }
}
