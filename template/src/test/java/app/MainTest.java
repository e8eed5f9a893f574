package app;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.weft.Weft;
import java.util.List;
import org.junit.jupiter.api.Test;

class MainTest {
  @Test
  void dishesAreServedInTheOrderOfTheMenu() {
    List<String> served = Weft.call(() -> Main.serve(List.of("soup", "cake")));

    assertEquals(List.of("hot soup", "hot cake"), served);
  }
}
