package dev.weft.sim;

import static java.time.Duration.ofMillis;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;

/** The bank of docs/simulation.md as it stands there; {@link RemotePaymentsTest} runs it. */
@SuppressWarnings("AddressSelection") // a simulated host has one address
interface RemotePaymentsPage {
  class Bank {
    int total;

    void serve(int port) throws IOException {
      try (ServerSocket server = new ServerSocket(port)) {
        while (true) {
          try (Socket client = server.accept()) {
            DataInputStream in = new DataInputStream(client.getInputStream());
            pay(in.readUTF(), in.readInt());
            new DataOutputStream(client.getOutputStream()).writeUTF("paid");
          } catch (IOException e) {
            // this client is gone; the next one
          }
        }
      }
    }

    void pay(String id, int amount) {
      total += amount;
    }
  }

  class Client {
    static void pay(String host, int port, String id, int amount) {
      while (true) {
        try (Socket bank = new Socket(host, port)) {
          DataOutputStream out = new DataOutputStream(bank.getOutputStream());
          out.writeUTF(id);
          out.writeInt(amount);
          new DataInputStream(bank.getInputStream()).readUTF();
          return;
        } catch (IOException e) {
          // try again
        }
      }
    }
  }

  class RemotePaymentsTest {
    @WeftSimulation(seeds = 1000)
    void paysOnce(Simulation sim) {
      sim.network().latency(ofMillis(1), ofMillis(5)).resets(0.01);
      Bank bank = new Bank();
      sim.host("bank", () -> bank.serve(7000));
      Client.pay("bank", 7000, "id-1", 10);
      assertEquals(10, bank.total);
    }
  }
}
