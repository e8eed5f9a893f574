package dev.weft.http;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpHandler;
import dev.weft.Body;
import dev.weft.Scheduler;
import dev.weft.http.WebSocketFrames.Frame;
import dev.weft.http.WebSocketFrames.Violation;
import dev.weft.sync.Mutex;
import dev.weft.time.Timer;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ProtocolException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The server's end of a WebSocket (RFC 6455), in blocking style: a fiber that has to wait gives up
 * its thread.
 *
 * {@snippet class="dev.weft.http.WebSocketTest" region="echo"}
 *
 * <p>Any fiber or thread may send at any time, also while another receives; each message goes out
 * in one piece. Receivers take turns. Pings are answered while a receiver waits.
 *
 * <p>Every wait is a cancel point: it ends with an {@link InterruptedIOException}, with the
 * interrupt status set. A receive that ends so can be called again, and nothing is lost; a send
 * that ends so in the middle of a message ends the connection, because the client could not make
 * sense of the rest. {@link dev.weft.Weft#withTimeout} so limits how long a client may be silent,
 * or slow.
 *
 * <p>A client that breaks the protocol is told so by a close frame, and the receiver by a {@link
 * ProtocolException}. The same goes for a message that is longer than {@code
 * -Dweft.http.maxMessage} bytes, by default 1 MiB; compressed messages count as they are inflated.
 *
 * <p>Messages of {@code -Dweft.http.deflateFrom} bytes, by default 1,024, or more are sent
 * compressed if the client offers that (RFC 7692); 0 turns compression off.
 *
 * <p>A browser lets any page open a WebSocket to any server, with the user's cookies: a handler
 * that relies on cookies has to check the {@code Origin} in {@link #requestHeaders()} first.
 */
public final class WebSocket implements AutoCloseable {
  /*
   *   OPEN    -> CLOSING   // closing is set, once: a close frame has come, or is to be sent
   *   OPEN    -> ENDED     // the connection has failed, or ended without a close frame: 1006
   *   CLOSING -> ENDED     // both close frames are through, the connection failed, or it took
   *                        // longer than PATIENCE
   *
   * Invariants:
   *  - The holder of sending owns the output, the holder of receiving the input. A thread that
   *    holds both took receiving first.
   *  - A message is sent only if closing was null under sending, and the close frame is sent under
   *    sending after closing was set: so nothing comes behind a close frame.
   *  - While closing is set and ended is not, a thread is in finish(), and the timer of finish()
   *    closes the transport. So no thread waits for ever then, for a lock or the other side.
   *  - ended => the transport is closed, or the thread that has set ended is about to close it.
   */

  /** How long the other side may take to answer a close. */
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  private static final String LIMIT_PROPERTY = "weft.http.maxMessage";
  private static final int USUAL_LIMIT = 1 << 20;
  private static final String DEFLATE_PROPERTY = "weft.http.deflateFrom";
  private static final int USUAL_DEFLATE = 1024;

  private final Transport transport;
  private final WebSocketFrames frames;
  private final URI uri;
  private final Headers requestHeaders;
  private final Optional<String> subprotocol;
  private final String client;
  private final Mutex sending = Mutex.fair();
  private final Mutex receiving = Mutex.fair();

  // null as long as it is open
  private final AtomicReference<@Nullable WebSocketClose> closing = new AtomicReference<>();

  // under sending
  private boolean closeSent;

  private volatile boolean ended;

  // the last exception for the end of the connection that came out of here
  private volatile @Nullable IOException thrown;

  WebSocket(
      Upgraded connection,
      URI uri,
      Headers requestHeaders,
      Optional<String> subprotocol,
      int limit,
      int deflateFrom) {
    this.transport = connection.transport();
    this.frames = new WebSocketFrames(connection.input(), connection.output(), limit, deflateFrom);
    this.uri = uri;
    this.requestHeaders = requestHeaders;
    this.subprotocol = subprotocol;
    this.client = clientOf(transport);
  }

  /** Returns the address of the client, for messages; asked while it is still known. */
  private static String clientOf(Transport transport) {
    try {
      return transport.remoteAddress().toString();
    } catch (IOException e) {
      return "a client that is gone";
    }
  }

  /**
   * Returns a handler for {@link com.sun.net.httpserver.HttpServer#createContext(String,
   * HttpHandler)} that makes a WebSocket of each request and calls the handler for it. A request
   * that does not ask for one gets 400 and the reason, one for another version of the protocol 426.
   *
   * @throws IllegalArgumentException if {@code -Dweft.http.maxMessage} is no positive number, or
   *     {@code -Dweft.http.deflateFrom} no number
   */
  public static HttpHandler handler(WebSocketHandler handler) {
    return handler(List.of(), handler);
  }

  /**
   * Like {@link #handler(WebSocketHandler)}, and agrees on a subprotocol: the first of these that
   * the client offers too. If there is none the connection has none: see {@link #subprotocol()}.
   *
   * @throws IllegalArgumentException if one is no token of HTTP, or as above
   */
  public static HttpHandler handler(List<String> subprotocols, WebSocketHandler handler) {
    return handler(subprotocols, Integer.MAX_VALUE, handler);
  }

  /**
   * Like {@link #handler(List, WebSocketHandler)}, for messages of at most so many bytes, or {@code
   * -Dweft.http.maxMessage} if that is less.
   *
   * @throws IllegalArgumentException if the limit is less than 1, or as above
   */
  public static HttpHandler handler(
      List<String> subprotocols, int mostBytes, WebSocketHandler handler) {
    if (mostBytes < 1) {
      throw new IllegalArgumentException("a limit must be 1 byte or more, not " + mostBytes);
    }
    List<String> known = List.copyOf(subprotocols);
    for (String name : known) {
      if (name.isEmpty() || !name.chars().allMatch(RequestHead::isToken)) {
        throw new IllegalArgumentException(
            "a subprotocol must be letters, digits and !#$%&'*+-.^_`|~, not \"" + name + '"');
      }
    }
    return new WebSocketUpgrade(
        known,
        Objects.requireNonNull(handler, "handler"),
        Math.min(mostBytes, bytes(LIMIT_PROPERTY, USUAL_LIMIT, 1)),
        bytes(DEFLATE_PROPERTY, USUAL_DEFLATE, 0));
  }

  private static int bytes(String property, int usual, int least) {
    String value = System.getProperty(property, Integer.toString(usual)).strip();
    try {
      int bytes = Integer.parseInt(value);
      if (bytes >= least) {
        return bytes;
      }
    } catch (NumberFormatException e) {
      // said below
    }
    throw new IllegalArgumentException(
        "-D%s must be a number of bytes from %d to %d, not %s"
            .formatted(property, least, Integer.MAX_VALUE, value));
  }

  // ---- receiving ----

  /** What is received: {@link Text} or {@link Binary}. */
  public sealed interface Message permits Text, Binary {}

  /**
   * A message that is text.
   *
   * @param text all of it
   */
  public record Text(String text) implements Message {}

  /**
   * A message that is bytes; equal to one with the same bytes.
   *
   * @param bytes all of them; the array is the receiver's
   */
  @SuppressWarnings("ArrayRecordComponent") // a copy of each message would be a waste
  public record Binary(byte[] bytes) implements Message {
    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Binary(byte[] others) && Arrays.equals(bytes, others);
    }

    @Override
    public int hashCode() {
      return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
      return "Binary[" + bytes.length + " bytes]";
    }
  }

  /**
   * Waits for the next whole message; empty when there will be no more, because either side has
   * closed or the client is gone: {@link #closeCode} tells.
   *
   * @throws ProtocolException if the client has broken the protocol; it is closed then
   * @throws InterruptedIOException if the caller is interrupted or cancelled; it stays open
   * @throws IOException if the connection fails
   */
  public Optional<Message> receive() throws IOException {
    lock(receiving, "receive from");
    try {
      return Optional.ofNullable(nextMessage());
    } catch (Violation e) {
      if (closing.compareAndSet(null, e.close())) {
        finish(frames::skipAll); // to close before it has read would take the close frame along
        throw noted(e);
      }
      end();
      return Optional.empty();
    } catch (InterruptedIOException e) {
      throw e;
    } catch (IOException e) {
      boolean closed = !isOpen();
      end();
      if (closed) {
        return Optional.empty();
      }
      throw noted(e);
    } finally {
      receiving.unlock();
    }
  }

  /** Returns null at the end; once it is closing there are no messages, but the end is awaited. */
  private @Nullable Message nextMessage() throws IOException {
    while (!ended) {
      Frame frame = frames.read();
      if (frame == null) {
        end();
        break;
      }
      switch (frame.opcode()) {
        case WebSocketFrames.TEXT -> {
          if (isOpen()) {
            return new Text(new String(frame.payload(), StandardCharsets.UTF_8));
          }
        }
        case WebSocketFrames.BINARY -> {
          if (isOpen()) {
            return new Binary(frame.payload());
          }
        }
        case WebSocketFrames.PING -> writeUnlessClosed(WebSocketFrames.PONG, frame.payload());
        case WebSocketFrames.CLOSE -> {
          closing.compareAndSet(null, WebSocketClose.of(frame.payload()));
          finish(() -> {});
        }
        default -> {} // a pong
      }
    }
    return null;
  }

  /**
   * Like {@link #receive}, where only text is expected.
   *
   * @throws ProtocolException if bytes come; it is closed then, with 1003
   */
  public Optional<String> receiveText() throws IOException {
    Optional<Message> message = receive();
    if (message.isPresent() && message.get() instanceof Binary) {
      close(WebSocketClose.NOT_ACCEPTED, "only text is accepted");
      throw noted(
          new ProtocolException(
              "a binary message came from " + this + "; receive() takes both kinds"));
    }
    return message.map(text -> ((Text) text).text());
  }

  // ---- sending ----

  /**
   * Sends a text. An unpaired surrogate becomes a question mark, as in {@link
   * String#getBytes(java.nio.charset.Charset)}.
   *
   * @throws IOException if it is closed, or the connection fails
   */
  public void send(String text) throws IOException {
    write(WebSocketFrames.TEXT, text.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * Sends bytes, which must not change until this returns.
   *
   * @throws IOException if it is closed, or the connection fails
   */
  public void send(byte[] bytes) throws IOException {
    write(WebSocketFrames.BINARY, Objects.requireNonNull(bytes, "bytes"));
  }

  /**
   * Sends a ping. Clients answer it with a pong, which keeps the connection busy and is otherwise
   * ignored.
   *
   * @throws IllegalArgumentException if it has more than 125 bytes
   * @throws IOException if it is closed, or the connection fails
   */
  public void ping(byte[] data) throws IOException {
    if (data.length > WebSocketFrames.MOST_CONTROL) {
      throw new IllegalArgumentException("a ping has at most 125 bytes, not " + data.length);
    }
    write(WebSocketFrames.PING, data);
  }

  private void write(int opcode, byte[] payload) throws IOException {
    if (!writeUnlessClosed(opcode, payload)) {
      throw noted(
          new IOException("cannot send to " + this + ": it was closed with " + closing.get()));
    }
  }

  /** Returns false if it is closed. */
  private boolean writeUnlessClosed(int opcode, byte[] payload) throws IOException {
    lock(sending, "send to");
    try {
      if (!isOpen()) {
        return false;
      }
      writeLocked(opcode, payload);
      return true;
    } finally {
      sending.unlock();
    }
  }

  private void writeLocked(int opcode, byte[] payload) throws IOException {
    try {
      frames.write(opcode, payload);
    } catch (IOException e) {
      end(); // nobody knows how much of it is on its way
      throw noted(e);
    }
  }

  // ---- closing ----

  /** Closes it with 1000, which means that all is done: see {@link #close(int, String)}. */
  @Override
  public void close() {
    close(WebSocketClose.NORMAL, "");
  }

  /**
   * Closes it: tells the other side, waits a second at most for its answer, and closes the
   * connection. Nothing more is received, and a waiting receiver gets no message. If it is closed
   * already this only waits for the end.
   *
   * @param code 1000 to 1003, 1007 to 1014, or 3000 to 4999, which are the program's
   * @param reason for people, of 123 bytes at most in UTF-8
   * @throws IllegalArgumentException if the code or the reason cannot be sent
   */
  public void close(int code, String reason) {
    closing.compareAndSet(null, WebSocketClose.checked(code, reason));
    finish(
        () -> {
          lock(receiving, "close"); // its holder reads to the end
          try {
            nextMessage();
          } finally {
            receiving.unlock();
          }
        });
  }

  /** Sends the close frame if that is still to be done, then waits as told, and ends it. */
  private void finish(Body wait) {
    if (!ended) {
      Timer limit = null;
      try {
        limit =
            Scheduler.current()
                .orElseGet(Scheduler::shared)
                .timers()
                .after(PATIENCE, transport::close);
        sendClose();
        wait.run();
      } catch (IOException | RejectedExecutionException e) {
        // it ends in any case; an interrupt is still to be seen by the caller
      } catch (Exception e) {
        throw new IllegalStateException("what is waited for is I/O", e);
      } finally {
        end();
        if (limit != null) {
          limit.cancel();
        }
      }
    }
  }

  private void sendClose() throws IOException {
    lock(sending, "close");
    try {
      if (!closeSent) {
        closeSent = true;
        writeLocked(WebSocketFrames.CLOSE, Objects.requireNonNull(closing.get()).payload());
      }
    } finally {
      sending.unlock();
    }
  }

  private void end() {
    closing.compareAndSet(null, new WebSocketClose(WebSocketClose.ABNORMAL, ""));
    ended = true;
    transport.close();
  }

  /** Waits for a lock, unless the caller is interrupted. */
  private void lock(Mutex mutex, String doing) throws InterruptedIOException {
    if (!mutex.tryLock()) {
      try {
        mutex.lockInterruptibly();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        InterruptedIOException interrupted =
            new InterruptedIOException("cannot " + doing + " " + this + ": interrupted");
        interrupted.initCause(e);
        throw interrupted;
      }
    }
  }

  private <E extends IOException> E noted(E e) {
    thrown = e;
    return e;
  }

  /** Returns whether it has thrown this because the connection has come to its end. */
  boolean hasThrown(IOException e) {
    return thrown == e;
  }

  // ---- looking ----

  /** Returns whether neither side has closed, and the connection has not failed. */
  public boolean isOpen() {
    return closing.get() == null;
  }

  /**
   * Returns the code of whichever side has closed first, or empty if it is open. 1005: the client
   * has given none; 1006: the connection has ended without a close.
   */
  public OptionalInt closeCode() {
    WebSocketClose close = closing.get();
    return close == null ? OptionalInt.empty() : OptionalInt.of(close.code());
  }

  /** Returns the reason that came with {@link #closeCode}; often empty. */
  public String closeReason() {
    WebSocketClose close = closing.get();
    return close == null ? "" : close.reason();
  }

  /** Returns what was asked for: the path and the query. */
  public URI uri() {
    return uri;
  }

  /** Returns the headers of the request, which cannot be changed. */
  public Headers requestHeaders() {
    return requestHeaders;
  }

  /** Returns the subprotocol that was agreed on. */
  public Optional<String> subprotocol() {
    return subprotocol;
  }

  @Override
  public String toString() {
    return "WebSocket " + uri + " of " + client;
  }
}
