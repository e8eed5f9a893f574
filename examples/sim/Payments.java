import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A payment service with a bug that a stress test hardly finds: ./weft sim Payments.java does. */
class Payments {
  private final Map<String, Integer> paid = new ConcurrentHashMap<>();
  private int total;

  void pay(String id, int amount) {
    if (!paid.containsKey(id)) { // a retry must not pay twice
      paid.put(id, amount);
      synchronized (this) {
        total += amount;
      }
      System.out.println(Thread.currentThread().getName() + " pays " + amount);
    }
  }

  public static void main(String[] args) throws InterruptedException {
    Payments payments = new Payments();
    Thread retry = new Thread(() -> payments.pay("id-1", 10), "retry");
    retry.start();
    payments.pay("id-1", 10);
    retry.join();
    if (payments.total != 10) {
      throw new IllegalStateException("paid " + payments.total + ", not 10");
    }
  }
}
