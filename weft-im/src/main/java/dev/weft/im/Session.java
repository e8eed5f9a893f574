package dev.weft.im;

import dev.weft.Fiber;
import dev.weft.im.Outbox.Ended;
import dev.weft.im.Refusal.Code;
import dev.weft.im.Store.StoreException;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * One connection, in blocking style: reads a command, carries it out, answers, and so on.
 *
 * <p>Answers and what was missed are sent by this fiber, so they are in order; what others cause
 * comes into the {@link Outbox} from the {@link Hub}.
 */
final class Session {
  private static final System.Logger LOG = System.getLogger("dev.weft.im");
  private static final int MOST_WRONG_LOGINS = 5;
  private static final Duration PING_EVERY = Duration.ofSeconds(30);

  private final Node node;
  private final Store store;
  private final Commands commands;
  private final Wire wire;
  private final Outbox outbox;
  private final long opened = System.nanoTime();
  private int wrongLogins;

  // what this connection was resumed with, or was given
  private @Nullable String token;

  // set when the client logs in
  private LineBudget.@Nullable Account account;

  // set once, at login; the writer's callback reads it only for messages, which come after that
  private volatile @Nullable String user;

  // true once the client tells what it has seen
  private volatile boolean tellsWhatItHasSeen;

  // only the node's sweep uses it
  private long pinged = opened;

  Session(Node node, Wire wire) {
    this.node = node;
    this.store = node.store();
    this.commands = new Commands(node, this);
    this.wire = wire;
    this.outbox = new Outbox(wire, node.scheduler(), node.budget(), this::delivered);
  }

  Outbox outbox() {
    return outbox;
  }

  String user() {
    return Objects.requireNonNull(user);
  }

  boolean isLoggedIn() {
    return user != null;
  }

  /** Returns when it began, in nanoseconds. */
  long opened() {
    return opened;
  }

  private void delivered(long id) {
    if (!tellsWhatItHasSeen) {
      node.marks().raise(user(), id);
    }
  }

  // ---- life ----

  void run() {
    try {
      if (node.opened(this)) {
        serve();
      } else {
        finish("BYE the server has as many connections as it can have; try again later");
      }
    } catch (IOException | Ended e) {
      // the client is gone, or has got its BYE
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      end();
    }
  }

  private void serve() throws IOException, InterruptedException, Ended {
    while (wrongLogins < MOST_WRONG_LOGINS) {
      try {
        outbox.awaitRoom();
        String line = wire.read();
        if (line == null) {
          hangUp();
          return;
        }
        Command command = Command.parse(line);
        if (command instanceof Command.Quit) {
          finish("OK QUIT");
          return;
        }
        if (command instanceof Command.Logout) {
          logOut();
          return;
        }
        carryOut(command);
      } catch (Refusal e) {
        answer(e.line());
      } catch (StoreException e) {
        answer("ERR internal " + e.advice());
      } catch (RuntimeException e) {
        LOG.log(Level.ERROR, "cannot carry out a command", e);
        answer("ERR internal the server has a fault; see its log");
      }
    }
    finish("BYE " + MOST_WRONG_LOGINS + " wrong logins in a row");
  }

  /** Ends after the client did: no message counts as delivered any more. */
  private void hangUp() throws InterruptedException {
    outbox.endedByClient();
    leaveHub();
    outbox.drain();
  }

  private void logOut() throws InterruptedException {
    if (token != null) {
      node.accounts().forget(token);
    }
    finish("OK LOGOUT");
  }

  /** Writes all that is queued, stores how far that was, and only then says so. */
  private void finish(String lastLine) throws InterruptedException {
    leaveHub();
    outbox.drain();
    if (user != null) {
      node.marks().flush(user());
    }
    outbox.writeLast(lastLine);
  }

  private void leaveHub() {
    if (user != null) {
      node.hub().leave(this);
    }
  }

  private void end() {
    leaveHub();
    wire.close();
    try {
      outbox.drain();
      if (user != null) {
        node.marks().flush(user());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      outbox.end();
      node.ended(this);
    }
  }

  private void answer(String line) throws InterruptedException, Ended {
    outbox.send(List.of(line), 0);
  }

  /** Drops the connection if its client is silent or slow; called now and then. */
  void lookAfter(long now, Limits limits) {
    if (user == null && now - opened > limits.login().toNanos()) {
      outbox.bye("log in within %d seconds".formatted(limits.login().toSeconds()));
    }
    long since = outbox.writingSince();
    if (since != 0 && now - since > limits.stall().toNanos()) {
      outbox.bye("you read too slowly; log in again for what is left");
    }
    if (wire.wantsPings() && now - pinged > PING_EVERY.toNanos()) {
      pinged = now;
      outbox.ping();
    }
  }

  // ---- commands ----

  private void carryOut(Command command) throws Refusal, InterruptedException, Ended {
    switch (command) {
      case Command.Ping(String text) -> answer(text.isEmpty() ? "OK PING" : "OK PING " + text);
      case Command.Register(String name, String password) -> {
        checkLoggedOut();
        node.accounts().register(wire.place(), name, password);
        begin("OK REGISTER ", name);
      }
      case Command.Login(String name, String password) -> {
        checkLoggedOut();
        wrongLogins++;
        node.accounts().login(wire.place(), name, password);
        begin("OK LOGIN ", name);
      }
      case Command.Resume(String given) -> {
        checkLoggedOut();
        wrongLogins++;
        String name = node.accounts().resume(given);
        token = given;
        begin("OK RESUME ", name);
      }
      case Command.Token() -> {
        if (token == null) {
          String me = loggedIn();
          token = inTurn(() -> node.accounts().newToken(me));
        }
        answer("OK TOKEN " + token);
      }
      case Command.Seen(long id) -> {
        tellsWhatItHasSeen = true;
        if (user != null) {
          node.marks().raise(user(), Math.min(id, node.hub().position()));
        }
        answer("OK SEEN " + id);
      }
      case Command.History _, Command.Who _, Command.Directs _ -> {
        String me = loggedIn();
        outbox.send(
            atPace(
                LineBudget.Account.MOST_READERS,
                () -> commands.carryOut(me, command),
                lines -> lines.stream().mapToLong(String::length).sum()),
            0);
      }
      default -> {
        String me = loggedIn();
        outbox.send(inTurn(() -> commands.carryOut(me, command)), 0);
      }
    }
  }

  /** Something that asks the database. */
  private interface Work<T> {
    T get() throws Refusal, InterruptedException;
  }

  /** Does something when few others of the same user are under way, on all its connections. */
  private <T> T inTurn(Work<T> work) throws Refusal, InterruptedException {
    LineBudget.Account mine = Objects.requireNonNull(account);
    mine.commands().acquire();
    try {
      return work.get();
    } finally {
      mine.commands().release();
    }
  }

  /**
   * Reads much, at a limited pace. A connection that waits here does not notice that its client is
   * gone, so the number of waiting connections of one user is limited.
   */
  private <T> T atPace(int mostReaders, Work<T> reading, ToLongFunction<T> characters)
      throws Refusal, InterruptedException {
    LineBudget.Account mine = Objects.requireNonNull(account);
    if (!mine.enterReaders(mostReaders)) {
      throw new Refusal(Code.LIMIT, "too many of your connections read at this moment");
    }
    try {
      mine.reads().acquire();
      try {
        Duration pause = node.readPace().pause(user());
        if (pause.isPositive()) {
          Fiber.sleep(pause);
        }
        T read = inTurn(reading);
        node.readPace().took(user(), characters.applyAsLong(read));
        return read;
      } finally {
        mine.reads().release();
      }
    } finally {
      mine.leaveReaders();
    }
  }

  private String loggedIn() throws Refusal {
    String me = user;
    if (me == null) {
      throw new Refusal(Code.LOGIN, "log in first: LOGIN name password");
    }
    return me;
  }

  private void checkLoggedOut() throws Refusal {
    if (user != null) {
      throw new Refusal(Code.DENIED, "you are logged in as " + user + "; QUIT first");
    }
  }

  /**
   * Begins to deliver: enters the hub for events, then sends the missed messages page by page, as
   * fast as the client reads, at the pace of long answers. When one page is left, attaches to the
   * hub, so that no message falls between the last page and the messages that the hub delivers.
   */
  private void begin(String answer, String name) throws InterruptedException, Ended {
    long mark = node.marks().of(name);
    wrongLogins = 0;
    user = name;
    account = outbox.loggedIn(name);
    node.hub().enter(this, answer + name);
    try {
      boolean hasMore = true;
      while (hasMore) {
        outbox.awaitRoom();
        long after = mark;
        long last = node.hub().position();
        Store.Page page =
            atPace(
                LineBudget.Account.MOST_RETURNING,
                () -> store.missed(name, after, last),
                read -> read.messages().stream().mapToLong(found -> found.text().length()).sum());
        hasMore = page.hasMore();
        mark = hasMore ? sendMissed(page) : Math.max(last, sendMissed(page));
      }
      sendRest(mark, node.hub().attach(this));
    } catch (StoreException e) {
      outbox.bye("the database fails; log in again later"); // nothing may be left out
    } catch (Refusal e) {
      outbox.bye("too many of your connections log in at this moment; log in again later");
    }
  }

  /** Sends what came since the last look: little, and at no pace, as what is new waits for it. */
  private void sendRest(long mark, long attached) throws Refusal, InterruptedException, Ended {
    Store.Page page;
    do {
      long after = mark;
      page = inTurn(() -> store.missed(user(), after, attached));
      mark = Math.max(mark, sendMissed(page));
    } while (page.hasMore());
    outbox.release();
  }

  /** Returns the id of the last, or 0. */
  private long sendMissed(Store.Page page) throws InterruptedException, Ended {
    for (Message message : page.messages()) {
      outbox.send(List.of(message.lineFor(user())), message.id());
    }
    return page.messages().isEmpty() ? 0 : page.messages().getLast().id();
  }
}
