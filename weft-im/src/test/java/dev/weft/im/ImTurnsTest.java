package dev.weft.im;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Scheduler;
import dev.weft.testkit.Feature;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A user's commands and logins while the database is slow: few of them are under way at once, which
 * leaves room for others, and what happens meanwhile is not lost.
 */
@Feature("A4")
class ImTurnsTest {
  private static final int CONNECTIONS = 20;

  private final AtomicInteger inside = new AtomicInteger();
  private final AtomicInteger mostInside = new AtomicInteger();
  private final CountDownLatch gate = new CountDownLatch(1);
  private final List<ImClient> clients = new ArrayList<>();
  private volatile String gated = "";
  private Node node;
  private LineEndpoint lines;

  @BeforeEach
  void start() throws Exception {
    Store store = SqlStore.open("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
    node =
        new Node(
            gated(store), Scheduler.shared(), null, Duration.ofMinutes(10), Limits.ofHeap(false));
    lines =
        new LineEndpoint(node, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), null);
    lines.start();
  }

  @AfterEach
  void stop() throws Exception {
    for (ImClient client : clients) {
      client.close();
    }
    lines.close();
    node.close();
  }

  /** Calls of one method with the name of eve wait until the gate is open. */
  private Store gated(Store store) {
    return (Store)
        Proxy.newProxyInstance(
            Store.class.getClassLoader(),
            new Class<?>[] {Store.class},
            (self, method, values) -> {
              boolean waits =
                  method.getName().equals(gated)
                      && values[0] instanceof String s
                      && s.equals("eve");
              if (waits) {
                mostInside.accumulateAndGet(inside.incrementAndGet(), Math::max);
                gate.await();
              }
              try {
                return method.invoke(store, values);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              } finally {
                if (waits) {
                  inside.decrementAndGet();
                }
              }
            });
  }

  private ImClient connect(String command, String answer) throws Exception {
    ImClient client = ImClient.connect(lines.address());
    clients.add(client);
    assertThat(client.ask(command)).isEqualTo(answer);
    return client;
  }

  private ImClient register(String name) throws Exception {
    return connect("REGISTER " + name + " " + ImClient.PASSWORD, "OK REGISTER " + name);
  }

  /** Comes back on many connections. */
  private List<ImClient> resume(String token) throws Exception {
    List<ImClient> all = new ArrayList<>();
    for (int i = 0; i < CONNECTIONS; i++) {
      all.add(connect("RESUME " + token, "OK RESUME eve"));
    }
    return all;
  }

  private static String tokenOf(ImClient client) throws Exception {
    return client.ask("TOKEN").substring("OK TOKEN ".length());
  }

  private void awaitInside(int count) {
    long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
    while (inside.get() < count) {
      assertThat(System.nanoTime()).as("in the store in time").isLessThan(deadline);
      Thread.onSpinWait();
    }
  }

  private static void talk(ImClient client) throws Exception {
    for (int i = 0; i < 20; i++) {
      client.post("SAY tea hello");
    }
  }

  @Test
  void fourCommandsOfAUserAtOnce() throws Exception {
    ImClient bob = register("bob");
    bob.ask("JOIN tea");
    List<ImClient> ofEve = resume(tokenOf(register("eve")));
    gated = "join";
    for (int i = 0; i < CONNECTIONS; i++) {
      ofEve.get(i).send("JOIN room-" + i);
    }
    awaitInside(4);
    talk(bob);
    gate.countDown();
    for (int i = 0; i < CONNECTIONS; i++) {
      assertThat(ofEve.get(i).answer()).isEqualTo("OK JOIN room-" + i);
    }
    assertThat(mostInside).hasValue(4);
  }

  @Test
  void twoPagesOfWhatAUserHasMissedAtOnce() throws Exception {
    ImClient bob = register("bob");
    bob.ask("JOIN tea");
    String token = tokenOf(register("eve"));
    gated = "missed";
    List<ImClient> ofEve = resume(token); // each is answered before it reads
    awaitInside(2);
    talk(bob);
    assertThat(mostInside).hasValue(2);
    gate.countDown();
    bob.post("TELL eve hello");
    for (ImClient client : ofEve) {
      assertThat(client.text()).isEqualTo("hello");
    }
  }

  /** What was missed comes at the pace of history: else a login would be a way around it. */
  @Test
  void muchThatWasMissedComesAtAPace() throws Exception {
    int count = 2000; // 8 MB, and as much again for 250 pages
    ImClient bob = register("bob");
    ImClient eve = register("eve");
    String token = tokenOf(eve);
    eve.quit();
    for (int i = 0; i < count; i++) {
      bob.post("TELL eve " + "x".repeat(4096));
      bob.text(); // or the server takes it for a slow reader
    }
    long start = System.nanoTime();
    ImClient again = connect("RESUME " + token, "OK RESUME eve");
    for (int i = 0; i < count; i++) {
      again.text();
    }
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofSeconds(1));
  }

  @Test
  void aLoginWhoseMissedMessagesAreBeingReadHearsEventsAndThenMessages() throws Exception {
    ImClient eve = register("eve");
    eve.ask("JOIN tea");
    ImClient bob = register("bob");
    gated = "missed";
    ImClient phone = connect("LOGIN eve " + ImClient.PASSWORD, "OK LOGIN eve");
    awaitInside(1);
    bob.ask("JOIN tea");
    phone.await("JOINED tea bob");
    bob.post("SAY tea hello");
    assertThat(eve.text()).isEqualTo("hello");
    gate.countDown();
    assertThat(phone.text()).isEqualTo("hello");
    assertThat(phone.eventsUntilNow()).isEmpty();
  }
}
