package dev.weft.im;

import dev.weft.channel.ChannelClosedException;
import dev.weft.im.Refusal.Code;
import dev.weft.im.Store.StoreException;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One connection, in blocking style: reads a command, carries it out, answers, and so on.
 *
 * <p>Answers and what was missed are sent by this fiber, so they are in order; what others cause
 * comes into the {@link Outbox} from the {@link Hub}.
 */
final class Session {
  private static final System.Logger LOG = System.getLogger("dev.weft.im");
  private static final int MOST_WRONG_PASSWORDS = 5;

  /** The most missed messages that are read from the store at once. */
  private static final int PAGE = 1000;

  private final Node node;
  private final Store store;
  private final Commands commands;
  private final Wire wire;
  private final Outbox outbox;
  private int wrongPasswords;

  // set once; the writer reads it after it got a message, which comes later
  private volatile @Nullable String user;

  // true once the client has ended its side
  private volatile boolean gone;

  // true once the client tells what it has seen
  private volatile boolean tellsWhatItHasSeen;

  Session(Node node, Wire wire) {
    this.node = node;
    this.store = node.store();
    this.commands = new Commands(node);
    this.wire = wire;
    this.outbox = new Outbox(wire, node.scheduler(), node.queueLimit(), this::delivered);
  }

  Outbox outbox() {
    return outbox;
  }

  String user() {
    return Objects.requireNonNull(user);
  }

  private void delivered(long id) {
    if (!tellsWhatItHasSeen && !gone) {
      node.marks().raise(user(), id);
    }
  }

  // ---- life ----

  void run() {
    try {
      node.opened(this);
      serve();
    } catch (IOException | ChannelClosedException e) {
      // the client is gone, or has got its BYE
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      end();
    }
  }

  private void serve() throws IOException, InterruptedException {
    while (wrongPasswords < MOST_WRONG_PASSWORDS) {
      try {
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
        carryOut(command);
      } catch (Refusal e) {
        answer(e.line());
      } catch (StoreException e) {
        answer("ERR internal the database fails; try again later");
      } catch (ChannelClosedException e) {
        throw e;
      } catch (RuntimeException e) {
        LOG.log(Level.ERROR, "cannot carry out a command", e);
        answer("ERR internal the server has a fault; see its log");
      }
    }
    finish("BYE " + MOST_WRONG_PASSWORDS + " wrong passwords in a row");
  }

  /**
   * Ends after the client did. It may still read what it has asked for; but more likely it does
   * not, so no message counts as delivered any more.
   */
  private void hangUp() throws InterruptedException {
    outbox.awaitWriteUnderWay(); // the client may have read it before it ended
    gone = true;
    leaveHub();
    outbox.drain();
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
      node.hub().detach(this);
    }
  }

  private void end() {
    leaveHub();
    wire.close();
    try {
      outbox.drain();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      if (user != null) {
        node.marks().flush(user());
      }
      node.ended(this);
    }
  }

  private void answer(String line) throws InterruptedException {
    outbox.send(List.of(line), 0);
  }

  // ---- commands ----

  private void carryOut(Command command) throws Refusal, InterruptedException {
    switch (command) {
      case Command.Ping(String text) -> answer(text.isEmpty() ? "OK PING" : "OK PING " + text);
      case Command.Register(String name, String password) -> register(name, password);
      case Command.Login(String name, String password) -> login(name, password);
      case Command.Seen(long id) -> {
        tellsWhatItHasSeen = true;
        if (user != null) {
          node.marks().raise(user(), Math.min(id, node.hub().position()));
        }
        answer("OK SEEN " + id);
      }
      default -> outbox.send(commands.carryOut(loggedIn(), command), 0);
    }
  }

  private String loggedIn() throws Refusal {
    String me = user;
    if (me == null) {
      throw new Refusal(Code.LOGIN, "log in first: LOGIN name password");
    }
    return me;
  }

  // ---- logging in ----

  private void register(String name, String password) throws Refusal, InterruptedException {
    checkLoggedOut();
    if (store.secret(name).isPresent() || !store.addUser(name, Passwords.secretOf(password))) {
      throw new Refusal(Code.EXISTS, "there is a user " + name + "; choose another name");
    }
    begin("OK REGISTER ", name);
  }

  private void login(String name, String password) throws Refusal, InterruptedException {
    checkLoggedOut();
    if (!Passwords.matches(password, store.secret(name).orElse(null))) {
      wrongPasswords++;
      throw new Refusal(Code.DENIED, "no such user, or a wrong password");
    }
    wrongPasswords = 0;
    begin("OK LOGIN ", name);
  }

  private void checkLoggedOut() throws Refusal {
    if (user != null) {
      throw new Refusal(Code.DENIED, "you are logged in as " + user + "; QUIT first");
    }
  }

  /**
   * Begins to deliver: first what was missed, page by page as the client takes it, and when only a
   * page is left, attaches to the hub, so that nothing falls between the last page and what comes
   * from there.
   */
  private void begin(String answer, String name) throws InterruptedException {
    long mark = node.marks().of(name);
    long last = node.hub().position();
    List<Message> page = store.missed(name, mark, last, PAGE);
    user = name;
    answer(answer + name);
    try {
      while (page.size() == PAGE) {
        mark = sendMissed(page);
        page = store.missed(name, mark, last, PAGE);
      }
      mark = Math.max(last, sendMissed(page));
      sendMissed(store.missed(name, mark, node.hub().attach(this), Integer.MAX_VALUE));
      outbox.release();
    } catch (StoreException e) {
      outbox.bye("the database fails; log in again later"); // nothing may be left out
    }
  }

  /** Returns the id of the last, or 0. */
  private long sendMissed(List<Message> messages) throws InterruptedException {
    for (Message message : messages) {
      outbox.send(List.of(message.lineFor(user())), message.id());
    }
    return messages.isEmpty() ? 0 : messages.getLast().id();
  }
}
