package dev.weft.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Java 25's rules for where a program starts (JLS 12.1.4). */
class MainMethodTest {
  private static final List<String> CALLS = new ArrayList<>();

  @Test
  void withArgumentsGoesBeforeWithout() throws Throwable {
    assertThat(callsOf(Both.class)).containsExactly("static x");
  }

  @Test
  void anInstanceMainGetsAnObject() throws Throwable {
    assertThat(callsOf(Instance.class)).containsExactly("new", "instance");
  }

  @Test
  void mainMayBeInherited() throws Throwable {
    assertThat(callsOf(Heir.class)).containsExactly("new", "instance");
  }

  @Test
  void privateOrWithAResultIsNoMain() {
    assertThatThrownBy(() -> MainMethod.of(NoMain.class))
        .isInstanceOf(UserMistake.class)
        .hasMessageContaining("has no main method: give it 'void main()'");
  }

  @Test
  void anInstanceMainNeedsAConstructorWithoutParameters() {
    assertThatThrownBy(() -> MainMethod.of(NeedsArgument.class))
        .isInstanceOf(UserMistake.class)
        .hasMessageContaining("its main method is not static");
  }

  private static List<String> callsOf(Class<?> type) throws Throwable {
    CALLS.clear();
    MainMethod.of(type).invoke(new String[] {"x"});
    return CALLS;
  }

  static class Both {
    static void main(String[] args) {
      CALLS.add("static " + args[0]);
    }

    static void main() {
      CALLS.add("without");
    }
  }

  static class Instance {
    Instance() {
      CALLS.add("new");
    }

    protected void main() {
      CALLS.add("instance");
    }
  }

  static class Heir extends Instance {}

  @SuppressWarnings({"unused", "IncorrectMainMethod"}) // that is the point
  static class NoMain {
    static int main(String[] args) {
      return args.length;
    }

    private static void main() {}
  }

  static class NeedsArgument {
    NeedsArgument(int n) {
      CALLS.add("new " + n);
    }

    void main() {}
  }
}
