package dev.weft.sim;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.testkit.Feature;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

/** Hosts: names, crash, restart, and what a crash leaves. */
@Feature("V7")
@SuppressWarnings("AddressSelection") // a simulated host has one address
class HostsTest {
  private static final SimulationOptions OPTIONS = SimulationOptions.seeds(30);

  // ---- a service that forgets what it has acknowledged ----

  /** Keeps a number; in memory only, or with the disk, which a crash does not clear. */
  private static final class Store {
    private final int[] disk;
    private final boolean forces;
    private int value;

    Store(int[] disk, boolean forces) {
      this.disk = disk;
      this.forces = forces;
      this.value = disk[0];
    }

    void serve() throws IOException {
      try (ServerSocket server = new ServerSocket(80)) {
        while (true) {
          try (Socket client = server.accept()) {
            DataInputStream in = new DataInputStream(client.getInputStream());
            int asked = in.readInt();
            if (asked > 0) {
              value = asked;
              if (forces) {
                disk[0] = asked;
              }
            }
            new DataOutputStream(client.getOutputStream()).writeInt(value);
          } catch (IOException e) {
            // this client is gone
          }
        }
      }
    }
  }

  private static int ask(int value) throws InterruptedException {
    while (true) {
      try (Socket store = new Socket("store", 80)) {
        new DataOutputStream(store.getOutputStream()).writeInt(value);
        return new DataInputStream(store.getInputStream()).readInt();
      } catch (IOException e) {
        Thread.sleep(100); // down, or not up yet
      }
    }
  }

  private static SimulationResult keepsWhatItAcknowledges(boolean forces, boolean crashes) {
    return Simulation.explore(
        SimulationOptions.seeds(300),
        sim -> {
          int[] disk = new int[1];
          Host store = sim.host("store", () -> new Store(disk, forces).serve());
          if (crashes) {
            sim.at(
                ofMillis(sim.random().nextInt(900)),
                () -> {
                  store.crash();
                  Thread.sleep(500);
                  store.restart();
                });
          }
          int acknowledged = 0;
          for (int i = 1; i <= 3; i++) {
            acknowledged = ask(i);
            Thread.sleep(300);
          }
          assertThat(ask(0)).isEqualTo(acknowledged);
        });
  }

  @Test
  void aCrashFindsAnAcknowledgementThatIsForgotten() {
    keepsWhatItAcknowledges(false, false).check();
    FailureReport report = keepsWhatItAcknowledges(false, true).failure().orElseThrow();
    assertThat(report.cause()).hasMessageContaining("but was: 0");
    assertThat(report.faults().get(Fault.CRASH)).isEqualTo(1);
    assertThat(report.text()).contains("1 crash").contains("── crash ──").contains("crashes store");
  }

  @Test
  void theFixedStorePassesWithCrashes() {
    SimulationResult result = keepsWhatItAcknowledges(true, true);
    result.check();
    assertThat(result.faults().get(Fault.CRASH)).isGreaterThan(200);
  }

  // ---- what a crash does ----

  @Test
  void aCrashFreezesTheFibersOfTheHostOnly() {
    Simulation.explore(
            OPTIONS,
            sim -> {
              List<String> said = new ArrayList<>();
              Host host =
                  sim.host(
                      "host",
                      () -> {
                        Thread child =
                            new Thread(
                                () -> {
                                  while (true) {
                                    sleep(10);
                                    said.add("child");
                                  }
                                });
                        child.start();
                        try {
                          Thread.sleep(10_000);
                          said.add("main goes on");
                        } finally {
                          said.add("finally");
                        }
                      });
              Thread.sleep(105);
              assertThat(said).containsOnly("child").hasSizeBetween(9, 10);
              assertThat(host.isUp()).isTrue();
              host.crash();
              assertThat(host.isUp()).isFalse();
              int before = said.size();
              Thread.sleep(100_000);
              assertThat(said).hasSize(before);
              host.restart(); // main begins anew, and what was frozen stays so
              Thread.sleep(105);
              assertThat(said).containsOnly("child").hasSizeBetween(before + 9, before + 10);
            })
        .check();
  }

  private static void sleep(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aLockOfACrashedHostStaysHeld() {
    SimulationResult result =
        Simulation.explore(
            OPTIONS,
            sim -> {
              ReentrantLock shared = new ReentrantLock();
              Host host =
                  sim.host(
                      "host",
                      () -> {
                        shared.lock();
                        try {
                          Thread.sleep(1_000);
                        } finally {
                          shared.unlock();
                        }
                      });
              Thread.sleep(10);
              host.crash();
              shared.lock();
            });
    assertThat(result.failure().orElseThrow().cause())
        .isInstanceOf(SimulationFailure.Deadlock.class)
        .hasMessageContaining("HostsTest.java");
  }

  @Test
  void aMonitorOfACrashedHostIsFreeInTheNextRun() {
    Object monitor = new Object(); // static state of the program, as it were
    Simulation.explore(
            OPTIONS,
            sim -> {
              boolean[] entered = new boolean[1];
              Host host =
                  sim.host(
                      "host",
                      () -> {
                        synchronized (monitor) {
                          entered[0] = true;
                          Thread.sleep(1_000);
                        }
                      });
              Thread.sleep(10);
              assertThat(entered[0]).isTrue();
              host.crash();
            })
        .check();
  }

  @Test
  void aCrashResetsConnectionsAndClosesListeners() {
    Simulation.explore(
            OPTIONS,
            sim -> {
              Host host =
                  sim.host(
                      "host",
                      () -> {
                        try (ServerSocket server = new ServerSocket(80)) {
                          Socket client = server.accept();
                          client.getOutputStream().write(5);
                          Thread.sleep(100_000);
                        }
                      });
              Thread.sleep(10);
              try (Socket socket = new Socket("host", 80)) {
                assertThat(socket.getInputStream().read()).isEqualTo(5);
                host.crash();
                assertThatThrownBy(() -> socket.getInputStream().read())
                    .hasMessage("Connection reset");
              }
              assertThatThrownBy(() -> new Socket("host", 80)).hasMessage("Connection refused");
              host.restart(); // the port is free again
              Thread.sleep(10);
              new Socket("host", 80).close();
            })
        .check();
  }

  @Test
  void aSilentConnectionIsResetByTheRestartedHost() {
    Simulation.explore(
            OPTIONS,
            sim -> {
              sim.network().silences(1);
              Host host = sim.host("host", () -> new ServerSocket(80).accept());
              Thread.sleep(10);
              try (Socket socket = new Socket("host", 80)) {
                host.crash();
                socket.setSoTimeout(60_000);
                assertThatThrownBy(() -> socket.getInputStream().read())
                    .hasMessage("Read timed out");
                host.restart();
                socket.getOutputStream().write(1);
                assertThatThrownBy(() -> socket.getInputStream().read())
                    .hasMessage("Connection reset");
              }
            })
        .check();
  }

  @Test
  void aHostMayCrashItself() {
    Simulation.explore(
            OPTIONS,
            sim -> {
              List<String> said = new ArrayList<>();
              Host[] self = new Host[1];
              self[0] =
                  sim.host(
                      "host",
                      () -> {
                        Thread.sleep(10);
                        said.add("crashes");
                        self[0].crash();
                        said.add("goes on");
                      });
              Thread.sleep(1_000);
              assertThat(said).containsExactly("crashes");
              assertThat(self[0].isUp()).isFalse();
            })
        .check();
  }

  // ---- names and owners ----

  @Test
  void fibersOfAHostStartFibersOfTheHost() {
    Simulation.explore(
            OPTIONS,
            sim -> {
              List<String> names = new ArrayList<>();
              sim.host(
                  "host",
                  () -> {
                    Runnable here = () -> names.add(localHost());
                    here.run();
                    Thread.startVirtualThread(here).join();
                    Thread plain = new Thread(here);
                    plain.start();
                    plain.join();
                    try (ExecutorService pool = Executors.newFixedThreadPool(2)) {
                      pool.submit(here).get();
                    }
                    sim.at(ofSeconds(1), () -> names.add(localHost())); // the test's own
                  });
              Thread.sleep(2_000);
              assertThat(names).containsExactly("host", "host", "host", "host", "main");
              assertThat(localHost()).isEqualTo("main");
            })
        .check();
  }

  private static String localHost() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void namesResolveInside() {
    Simulation.explore(
            OPTIONS,
            sim -> {
              sim.host("bank", () -> {});
              InetAddress bank = InetAddress.getByName("bank");
              assertThat(bank.getHostAddress()).isEqualTo("10.0.0.2");
              assertThat(InetAddress.getByName("10.0.0.2").getHostName()).isEqualTo("bank");
              assertThat(InetAddress.getByName("BANK")).isEqualTo(bank);
              assertThat(InetAddress.getByName("localhost").isLoopbackAddress()).isTrue();
              assertThatThrownBy(() -> InetAddress.getByName("example.org"))
                  .hasMessageContaining("the simulation has the hosts [main, bank]");
            })
        .check();
  }

  @Test
  void wrongUseIsRefused() {
    Simulation.explore(
            SimulationOptions.seeds(1),
            sim -> {
              Host bank = sim.host("bank", () -> {});
              assertThatThrownBy(() -> sim.host("bank", () -> {}))
                  .hasMessage("cannot add a host 'bank': there is one");
              assertThatThrownBy(() -> sim.host("a b", () -> {}))
                  .hasMessageStartingWith("'a b' is no host name");
              assertThatThrownBy(bank::restart)
                  .hasMessage("cannot restart 'bank': it is up; crash it before");
              bank.crash();
              assertThatThrownBy(bank::crash).hasMessage("cannot crash 'bank': it is down");
            })
        .check();
  }

  @Test
  void aFailingHostFailsTheRun() {
    SimulationResult result =
        Simulation.explore(
            OPTIONS,
            sim -> {
              sim.host(
                  "host",
                  () -> {
                    throw new IOException("cannot serve");
                  });
              Thread.sleep(10);
            });
    assertThat(result.failure().orElseThrow().cause()).hasMessage("cannot serve");
  }

  @Test
  void crashListenersAreTold() {
    Simulation.explore(
            SimulationOptions.seeds(1),
            sim -> {
              List<String> told = new ArrayList<>();
              sim.hosts()
                  .listen(
                      new CrashListener() {
                        @Override
                        public void crashed(Host host) {
                          told.add("crashed " + host);
                        }

                        @Override
                        public void restarted(Host host) {
                          told.add("restarted " + host);
                        }
                      });
              Host host = sim.host("host", () -> {});
              host.crash();
              host.restart();
              assertThat(told).containsExactly("crashed host", "restarted host");
            })
        .check();
  }
}
