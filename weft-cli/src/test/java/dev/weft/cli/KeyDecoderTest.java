package dev.weft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.util.List;
import org.junit.jupiter.api.Test;

@Feature("O1")
class KeyDecoderTest {
  private static List<Integer> keys(String characters) {
    KeyDecoder decoder = new KeyDecoder();
    return characters.chars().map(decoder::accept).filter(key -> key != 0).boxed().toList();
  }

  @Test
  void aCharacterIsAKey() {
    assertThat(keys("q \r\u0003")).containsExactly((int) 'q', (int) ' ', (int) '\r', 3);
  }

  @Test
  void anArrowIsAKey() {
    assertThat(keys("\u001b[A\u001bOB")).containsExactly(KeyDecoder.UP, KeyDecoder.DOWN);
    assertThat(keys("\u001b[1;5A")).as("with Ctrl").containsExactly(KeyDecoder.UP);
  }

  @Test
  void aPageKeyIsAKey() {
    assertThat(keys("\u001b[5~\u001b[6~"))
        .containsExactly(KeyDecoder.PAGE_UP, KeyDecoder.PAGE_DOWN);
    assertThat(keys("\u001b[5;5~")).as("with Ctrl").containsExactly(KeyDecoder.PAGE_UP);
    assertThat(keys("\u001b[H\u001bOF\u001b[1~\u001b[4~"))
        .containsExactly(KeyDecoder.HOME, KeyDecoder.END, KeyDecoder.HOME, KeyDecoder.END);
    assertThat(keys("\u001b[15~")).as("F5").allMatch(key -> key < KeyDecoder.PAGE_DOWN);
  }

  @Test
  void anAnswerOfTheTerminalIsNoneOfTheKeysOfAScreen() {
    assertThat(keys("\u001b[?1;2c")).as("its kind").containsExactly(-'c');
    assertThat(keys("\u001b[1;3R")).as("where the cursor is").containsExactly(-'R');
    assertThat(keys("\u001b[?2027;0$y")).as("a mode").containsExactly(-'y');
  }

  @Test
  void aLoneEscapeIsNoKeyAndHidesNone() {
    assertThat(keys("\u001b")).isEmpty();
    assertThat(keys("\u001bq")).containsExactly((int) 'q');
    assertThat(keys("\u001b\u001b[B")).containsExactly(KeyDecoder.DOWN);
  }

  @Test
  void aControlCharacterEndsASequence() {
    assertThat(keys("\u001b\u0003")).containsExactly(3);
    assertThat(keys("\u001b[1;\u0003q")).containsExactly(3, (int) 'q');
    assertThat(keys("\u001bO\u0003")).containsExactly(3);
  }
}
