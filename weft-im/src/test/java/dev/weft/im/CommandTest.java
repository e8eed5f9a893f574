package dev.weft.im;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.testkit.Feature;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How lines are understood. */
@Feature("A4")
class CommandTest {
  private static final int RANDOM_LINES = 20_000;

  @Test
  void everyCommand() throws Exception {
    assertThat(Command.parse("REGISTER ann 12345678"))
        .isEqualTo(new Command.Register("ann", "12345678"));
    assertThat(Command.parse("LOGIN Zoë_1-x.y pass:wörd"))
        .isEqualTo(new Command.Login("Zoë_1-x.y", "pass:wörd"));
    assertThat(Command.parse("JOIN tea")).isEqualTo(new Command.Join("tea"));
    assertThat(Command.parse("LEAVE tea")).isEqualTo(new Command.Leave("tea"));
    assertThat(Command.parse("SAY tea  two  spaces "))
        .isEqualTo(new Command.Say("tea", " two  spaces "));
    assertThat(Command.parse("TELL bob hi 👋")).isEqualTo(new Command.Tell("bob", "hi 👋"));
    assertThat(Command.parse("WHO tea")).isEqualTo(new Command.Who("tea"));
    assertThat(Command.parse("ROOMS")).isEqualTo(new Command.Rooms());
    assertThat(Command.parse("HISTORY tea"))
        .isEqualTo(new Command.History(false, "tea", Long.MAX_VALUE, 50));
    assertThat(Command.parse("HISTORY @bob 17"))
        .isEqualTo(new Command.History(true, "bob", 17, 50));
    assertThat(Command.parse("HISTORY @bob 17 100"))
        .isEqualTo(new Command.History(true, "bob", 17, 100));
    assertThat(Command.parse("HISTORY tea 9999999999999999999 1"))
        .isEqualTo(new Command.History(false, "tea", Long.MAX_VALUE, 1));
    assertThat(Command.parse("SEEN 17")).isEqualTo(new Command.Seen(17));
    assertThat(Command.parse("PING")).isEqualTo(new Command.Ping(""));
    assertThat(Command.parse("PING a b")).isEqualTo(new Command.Ping("a b"));
    assertThat(Command.parse("RESUME abcdefghij_abcdefghij-0"))
        .isEqualTo(new Command.Resume("abcdefghij_abcdefghij-0"));
    assertThat(Command.parse("TOKEN")).isEqualTo(new Command.Token());
    assertThat(Command.parse("PRIVATE tea")).isEqualTo(new Command.MakePrivate("tea"));
    assertThat(Command.parse("INVITE tea bob")).isEqualTo(new Command.Invite("tea", "bob"));
    assertThat(Command.parse("INVITATIONS")).isEqualTo(new Command.Invitations());
    assertThat(Command.parse("DIRECTS")).isEqualTo(new Command.Directs());
    assertThat(Command.parse("LOGOUT")).isEqualTo(new Command.Logout());
    assertThat(Command.parse("QUIT")).isEqualTo(new Command.Quit());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "join tea",
        " JOIN tea",
        "NONSENSE",
        "JOIN",
        "JOIN ",
        "JOIN  tea",
        "JOIN tea time",
        "JOIN tea\u0007",
        "JOIN te/a",
        "JOIN @tea",
        "JOIN tea\r",
        "REGISTER ann",
        "REGISTER ann ",
        "REGISTER  12345678",
        "REGISTER ann 1234 5678",
        "LOGIN",
        "SAY",
        "SAY tea",
        "SAY tea ",
        "SAY tea a\tb",
        "SAY tea a\nb",
        "SAY tea a\u0000b",
        "SAY tea a\u0085b",
        "SAY tea a\u2028b",
        "SAY tea \ud83d",
        "TELL bob",
        "WHO",
        "ROOMS please",
        "ROOMS ",
        "HISTORY",
        "HISTORY @",
        "HISTORY tea x",
        "HISTORY tea -1",
        "HISTORY tea 1 2 3",
        "HISTORY tea  2",
        "HISTORY tea 99999999999999999999",
        "SEEN",
        "RESUME",
        "RESUME short",
        "RESUME abcdefghij abcdefghij",
        "TOKEN please",
        "PRIVATE",
        "INVITE tea",
        "INVITE tea bob eve",
        "INVITATIONS all",
        "DIRECTS all",
        "LOGOUT now",
        "SEEN all",
        "QUIT now"
      })
  void linesThatAreNoCommand(String line) {
    assertThatThrownBy(() -> Command.parse(line))
        .isInstanceOfSatisfying(
            Refusal.class, e -> assertThat(e.code()).isEqualTo(Refusal.Code.SYNTAX));
  }

  @Test
  void limits() throws Exception {
    String name = "ä".repeat(32);
    String text = "👋".repeat(4096);
    assertThat(Command.parse("JOIN " + name)).isEqualTo(new Command.Join(name));
    isTooMuch("JOIN " + name + "x");
    assertThat(Command.parse("SAY r " + "x".repeat(4096)))
        .isEqualTo(new Command.Say("r", "x".repeat(4096)));
    isTooMuch("SAY r " + "x".repeat(4097));
    isTooMuch("SAY r " + text); // as so many bytes
    isTooMuch("PING " + "x".repeat(4097));
    assertThat(Command.parse("LOGIN a " + "x".repeat(128)))
        .isEqualTo(new Command.Login("a", "x".repeat(128)));
    isTooMuch("LOGIN a " + "x".repeat(129));
    isTooMuch("LOGIN a 1234567");
    isTooMuch("HISTORY tea 5 0");
    isTooMuch("HISTORY tea 5 101");
  }

  private static void isTooMuch(String line) {
    assertThatThrownBy(() -> Command.parse(line))
        .isInstanceOfSatisfying(
            Refusal.class, e -> assertThat(e.code()).isEqualTo(Refusal.Code.LIMIT));
  }

  @Test
  void anyLineIsACommandOrRefusedInOneLine() {
    Random random = new Random(4);
    String[] words = {
      "SAY", "JOIN", "HISTORY", "LOGIN", "PING", "SEEN", " ", "@", "tea", "9", "\n"
    };
    for (int i = 0; i < RANDOM_LINES; i++) {
      StringBuilder line = new StringBuilder();
      for (int n = random.nextInt(6); n > 0; n--) {
        byte[] bytes = new byte[random.nextInt(5)];
        random.nextBytes(bytes);
        line.append(words[random.nextInt(words.length)])
            .append(random.nextBoolean() ? " " : new String(bytes, StandardCharsets.UTF_8));
      }
      try {
        assertThat(Command.parse(line.toString())).isNotNull();
      } catch (Refusal e) {
        assertThat(e.line()).matches("ERR (syntax|limit) [ -~]+");
      }
    }
  }
}
