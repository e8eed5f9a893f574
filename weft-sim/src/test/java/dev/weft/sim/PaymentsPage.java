package dev.weft.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The test of docs/simulation.md as it stands there; it fails, so {@link PaymentsTest} runs it. */
interface PaymentsPage {
  class PaymentsTest {
    static class Payments {
      private final Map<String, Integer> paid = new ConcurrentHashMap<>();
      private int total;

      void pay(String id, int amount) {
        if (!paid.containsKey(id)) { // a retry must not pay twice
          paid.put(id, amount);
          synchronized (this) {
            total += amount;
          }
        }
      }
    }

    @WeftSimulation(seeds = 1000, points = "com.shop")
    void paysOnce() throws Exception {
      Payments payments = new Payments();
      Thread retry = new Thread(() -> payments.pay("id-1", 10), "retry");
      retry.start();
      payments.pay("id-1", 10);
      retry.join();
      assertEquals(10, payments.total);
    }
  }
}
