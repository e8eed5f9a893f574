package dev.weft.internal.channel;

import dev.weft.Weft;
import dev.weft.channel.Channel;
import dev.weft.channel.ChannelClosedException;
import dev.weft.channel.Select;
import java.util.Objects;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/** Channels as {@link Flow} sees them; each side waits in a fiber, so neither has to call back. */
public final class Reactive {
  private Reactive() {}

  /**
   * Moves what a publisher publishes into a channel.
   *
   * <p>Invariant: values asked for and not yet in the channel are at most n, so what waits in the
   * inbox is bounded although it is unlimited. The inbox is closed when the publisher ends, or when
   * the channel is closed: then nothing receives any more.
   */
  public static final class Inflow<T> implements Flow.Subscriber<T> {
    private final ChannelCore<? super T> target;
    private final ChannelCore<T> inbox = new ChannelCore<>(ChannelBuffer.UNLIMITED);
    private final int n;
    private Flow.@Nullable Subscription subscription;

    private Inflow(ChannelCore<? super T> target, int n) {
      this.target = target;
      this.n = n;
    }

    /** Creates a channel of what is published; the publisher is asked for n values at a time. */
    public static <T> Channel<T> channelOf(Flow.Publisher<? extends T> publisher, int n) {
      ChannelCore<T> channel = ChannelCore.buffered(n);
      Inflow<T> inflow = new Inflow<>(channel, n);
      channel.watch(inflow.inbox::close);
      publisher.subscribe(inflow);
      return channel;
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
      Objects.requireNonNull(given, "subscription");
      if (subscription != null) {
        given.cancel();
        return;
      }
      subscription = given;
      Weft.go(() -> move(given));
      given.request(n);
    }

    private void move(Flow.Subscription from) {
      try {
        for (T value : inbox) {
          target.send(value);
          from.request(1);
        }
        if (target.isClosed()) {
          from.cancel();
        }
        target.close();
      } catch (ChannelClosedException e) { // by the publisher, or by a receiver
        from.cancel();
        target.end(e.getCause());
      } catch (InterruptedException | RuntimeException e) {
        from.cancel();
        target.end(e);
      }
    }

    @Override
    public void onNext(T value) {
      inbox.trySendUnlessClosed(Objects.requireNonNull(value, "value"));
    }

    @Override
    public void onError(Throwable error) {
      inbox.closeWithError(error);
    }

    @Override
    public void onComplete() {
      inbox.close();
    }
  }

  /** Gives a subscriber as many values of a channel as it asks for. */
  static final class Outflow<T> implements Flow.Subscription {
    private final ChannelCore<T> source;
    private final Flow.Subscriber<? super T> subscriber;

    // what its fiber is to do; closed when the subscriber cancels
    private final ChannelCore<Runnable> requests = new ChannelCore<>(ChannelBuffer.UNLIMITED);

    // how many values it has asked for and not been given; its fiber only
    private long wanted;

    private Outflow(ChannelCore<T> source, Flow.Subscriber<? super T> subscriber) {
      this.source = source;
      this.subscriber = subscriber;
    }

    static <T> void begin(ChannelCore<T> source, Flow.Subscriber<? super T> subscriber) {
      Outflow<T> outflow = new Outflow<>(source, Objects.requireNonNull(subscriber, "subscriber"));
      Weft.go(outflow::run);
    }

    private void run() {
      Runnable look = () -> requests.trySendUnlessClosed(() -> {}); // whether that was the end
      source.watch(look);
      try {
        serve();
      } finally {
        source.unwatch(look);
      }
    }

    private void serve() {
      subscriber.onSubscribe(this);
      while (!requests.isClosed()) {
        Object event;
        try {
          event = nextEvent();
        } catch (ChannelClosedException e) {
          if (!requests.isClosed()) {
            end(e.getCause());
          }
          return;
        } catch (InterruptedException e) {
          end(e);
          return;
        }
        if (event != this) {
          wanted--;
          @SuppressWarnings("unchecked") // not this, so a value
          T value = (T) event;
          subscriber.onNext(value);
        }
      }
    }

    /** Waits for a value, if one is wanted, or a request; returns the value, or this. */
    private Object nextEvent() throws InterruptedException {
      Select.Clause<Object> asked =
          requests.onReceive(
              request -> {
                request.run();
                return this;
              });
      if (wanted > 0) {
        return Select.of(asked, source.onReceive(value -> value));
      }
      if (source.isDrained()) { // to be told even if nothing is asked for
        throw source.closed("receive from");
      }
      return Select.of(asked);
    }

    private void add(long count) {
      if (count <= 0) {
        requests.close();
        subscriber.onError(
            new IllegalArgumentException("request must be for at least 1 value, not " + count));
      }
      wanted = count > Long.MAX_VALUE - wanted ? Long.MAX_VALUE : wanted + count;
    }

    private void end(@Nullable Throwable error) {
      requests.close();
      if (error == null) {
        subscriber.onComplete();
      } else {
        subscriber.onError(error);
      }
    }

    @Override
    public void request(long count) {
      requests.trySendUnlessClosed(() -> add(count));
    }

    @Override
    public void cancel() {
      requests.close();
    }
  }
}
