import dev.weft.*;

/** One scheduler, no thread but the caller's: fibers run inside stop(), in FIFO order. */
public class CallerThread {
  public static void main(String[] args) {
    Scheduler scheduler = Scheduler.builder().threads(1).useCaller(true).build();
    Fiber<?> first =
        scheduler.go(
            () -> {
              System.out.println("f1 begin");
              System.out.println("f1 before");
              Fiber.suspend(); // until f4 schedules it
              System.out.println("f1 after");
            });
    scheduler.go(() -> System.out.println("f2"));
    scheduler.go(() -> System.out.println("f3"));
    scheduler.go(
        () -> {
          System.out.println("f4 begin");
          scheduler.schedule(first);
          System.out.println("f4 end");
        });
    scheduler.start();
    System.out.println("nothing has run yet");
    scheduler.stop();
  }
}
