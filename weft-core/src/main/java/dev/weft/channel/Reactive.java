package dev.weft.channel;

import dev.weft.Weft;
import java.util.Objects;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/** Channels as {@link Flow} sees them; each side waits in a fiber, so none has to call back. */
final class Reactive {
  private Reactive() {}

  /**
   * Moves what a publisher publishes into a channel.
   *
   * <p>Invariant: values asked for and not yet in the channel are at most n, so what waits in the
   * inbox is bounded although it is unlimited. The inbox is closed when the publisher ends, or when
   * the channel is closed: then there is nobody left to publish for.
   */
  static final class Inflow<T> implements Flow.Subscriber<T> {
    private final Channel<? super T> target;
    private final Channel<T> inbox = Channel.unlimited();
    private final int n;
    private Flow.@Nullable Subscription subscription;

    private Inflow(Channel<? super T> target, int n) {
      this.target = target;
      this.n = n;
    }

    static <T> Inflow<T> to(Channel<? super T> target, int n) {
      Inflow<T> inflow = new Inflow<>(target, n);
      target.watch(inflow.inbox::close);
      return inflow;
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
      } catch (ChannelClosedException e) { // by the publisher, or by those who received
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

  /** Gives a subscriber what it asks for of a channel's values. */
  static final class Outflow<T> implements Flow.Subscription {
    private final Channel<T> source;
    private final Flow.Subscriber<? super T> subscriber;

    // what its fiber is to do; closed when the subscriber cancels
    private final Channel<Runnable> requests = Channel.unlimited();

    // how many values it has asked for and not been given; its fiber only
    private long wanted;

    private Outflow(Channel<T> source, Flow.Subscriber<? super T> subscriber) {
      this.source = source;
      this.subscriber = subscriber;
    }

    static <T> void begin(Channel<T> source, Flow.Subscriber<? super T> subscriber) {
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
