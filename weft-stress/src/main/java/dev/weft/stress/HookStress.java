package dev.weft.stress;

import dev.weft.Fiber;
import dev.weft.Hook;
import dev.weft.Policy;
import dev.weft.Scheduler;
import dev.weft.internal.Uninterrupted;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Fibers of two schedulers, one that steals, and plain virtual threads talk over the JDK's own
 * sockets, and are closed, interrupted, timed out and switched between hook and no hook meanwhile.
 * Descriptors are reused all the time. Every answer is the one to the question, nobody waits for
 * ever, and whoever was left in peace got all its answers.
 */
final class HookStress {
  private static final int PARTIES = 16;
  private static final int QUESTIONS = 12;

  private final ServerSocket listener = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
  private final AtomicLong answers = new AtomicLong();
  private final AtomicLong connected = new AtomicLong();
  private final Progress progress;
  private final AtomicReference<Throwable> failure = new AtomicReference<>();

  private HookStress(Progress progress) throws IOException {
    this.progress = progress;
  }

  /** Makes about so many connections; returns how many questions were answered. */
  static long run(long connections, long seed, Progress progress) throws Exception {
    HookStress stress = new HookStress(progress);
    SplittableRandom random = new SplittableRandom(seed);
    Scheduler servers = Scheduler.builder().threads(1).name("servers").build().start();
    Scheduler clients =
        Scheduler.builder()
            .threads(Threads.orElse(2))
            .name("clients")
            .policy(Policy.workStealing())
            .build()
            .start();
    try {
      servers.go(() -> stress.serve(servers));
      List<Fiber<Void>> parties = new ArrayList<>();
      List<Thread> threads = new ArrayList<>();
      long each = Math.max(1, connections / (PARTIES + 2));
      for (int i = 0; i < PARTIES; i++) {
        SplittableRandom own = random.split();
        parties.add((i % 4 == 0 ? servers : clients).go(() -> stress.ask(each, own)));
      }
      for (int i = 0; i < 2; i++) {
        SplittableRandom own = random.split();
        threads.add(Thread.startVirtualThread(() -> stress.ask(each, own)));
      }
      for (Fiber<Void> party : parties) {
        party.join();
      }
      for (Thread thread : threads) {
        thread.join();
      }
    } catch (CompletionException e) {
      stress.failure.compareAndSet(null, e);
    } finally {
      stress.listener.close();
      Hook.set(Hook.Family.SOCKETS, true);
      Hook.set(Hook.Family.TIMERS, true);
    }
    clients.stop();
    servers.stop();
    if (stress.failure.get() != null) {
      throw new AssertionError("seed " + seed, stress.failure.get());
    }
    return stress.answers.get();
  }

  private void serve(Scheduler servers) {
    while (true) {
      Socket peer;
      try {
        peer = listener.accept();
      } catch (IOException e) {
        return; // closed at the end
      }
      servers.go(() -> answer(peer));
    }
  }

  private void answer(Socket peer) {
    try (peer;
        DataInputStream in = new DataInputStream(peer.getInputStream());
        DataOutputStream out = new DataOutputStream(peer.getOutputStream())) {
      while (true) {
        long question = in.readLong();
        if (question % 5 == 0) {
          Thread.sleep(0, 50_000);
        }
        out.writeLong(~question);
      }
    } catch (IOException e) {
      // the client has gone
    } catch (InterruptedException e) {
      failure.compareAndSet(null, e);
    }
  }

  private void ask(long connections, SplittableRandom random) {
    for (long i = 0; i < connections && failure.get() == null; i++) {
      try {
        connection(random);
        progress.at(connected.incrementAndGet());
      } catch (Throwable e) {
        failure.compareAndSet(null, e);
      }
    }
  }

  private void connection(SplittableRandom random) throws IOException {
    int kind = random.nextInt(8);
    Thread me = Thread.currentThread();
    boolean disturbed = kind < 3;
    try (Socket socket = new Socket(listener.getInetAddress(), listener.getLocalPort())) {
      DataInputStream in = new DataInputStream(socket.getInputStream());
      DataOutputStream out = new DataOutputStream(socket.getOutputStream());
      Thread disturber = disturbed ? disturber(kind, socket, me, random.nextInt(300)) : null;
      if (kind == 3) {
        Hook.set(Hook.Family.SOCKETS, random.nextBoolean());
        Hook.set(Hook.Family.TIMERS, random.nextBoolean());
      }
      try {
        for (int i = 0; i < QUESTIONS; i++) {
          if (kind == 2) {
            socket.setSoTimeout(1);
          }
          long question = random.nextLong();
          out.writeLong(question);
          if (in.readLong() != ~question) {
            throw new AssertionError("the answer to another question");
          }
          answers.incrementAndGet();
        }
      } catch (SocketTimeoutException e) {
        if (kind != 2) {
          throw e;
        }
      } catch (InterruptedIOException | java.net.SocketException e) {
        if (!disturbed) {
          throw e;
        }
      } finally {
        if (disturber != null) {
          Uninterrupted.await(disturber::join); // it may interrupt this one
          Thread.interrupted();
        }
      }
    }
  }

  /** Closes the socket or interrupts the thread after some microseconds. */
  private static Thread disturber(int kind, Socket socket, Thread thread, int micros) {
    return Thread.startVirtualThread(
        () -> {
          try {
            if (ThreadLocalRandom.current().nextBoolean()) {
              Thread.sleep(0, micros * 1000);
            }
            if (kind == 0) {
              socket.close();
            } else if (kind == 1) {
              thread.interrupt();
            }
          } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
          }
        });
  }
}
