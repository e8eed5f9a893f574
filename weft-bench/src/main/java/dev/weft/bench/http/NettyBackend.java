package dev.weft.bench.http;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.FastThreadLocal;
import java.net.InetAddress;
import java.util.ArrayDeque;

/**
 * A connection to the {@link HttpBackend} by Netty's own client: nothing waits, and all happens on
 * the event loop of the request, which keeps its connections for itself.
 */
final class NettyBackend extends SimpleChannelInboundHandler<ByteBuf> {
  private static final FastThreadLocal<ArrayDeque<NettyBackend>> IDLE =
      new FastThreadLocal<>() {
        @Override
        protected ArrayDeque<NettyBackend> initialValue() {
          return new ArrayDeque<>();
        }
      };

  private final Channel channel;
  private Runnable whenAnswered = () -> {};
  private int missing;

  private NettyBackend(Channel channel) {
    this.channel = channel;
  }

  /** Asks the other server on this event loop, and runs something when the answer is there. */
  static void ask(EventLoop loop, Runnable whenAnswered) {
    NettyBackend idle = IDLE.get().pollLast();
    if (idle != null) {
      idle.send(whenAnswered);
    } else {
      connect(loop, whenAnswered);
    }
  }

  private static void connect(EventLoop loop, Runnable whenAnswered) {
    var _ =
        new Bootstrap()
            .group(loop)
            .channel(EpollSocketChannel.class)
            .option(ChannelOption.TCP_NODELAY, true)
            .handler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel channel) {
                    channel.pipeline().addLast(new NettyBackend(channel));
                  }
                })
            .connect(InetAddress.getLoopbackAddress(), Integer.getInteger(HttpWork.BACKEND))
            .addListener(
                (ChannelFutureListener)
                    connected -> {
                      if (connected.isSuccess()) {
                        connected.channel().pipeline().get(NettyBackend.class).send(whenAnswered);
                      }
                    });
  }

  private void send(Runnable next) {
    whenAnswered = next;
    missing = HttpWork.BYTES.length;
    var _ = channel.writeAndFlush(Unpooled.wrappedBuffer(HttpWork.BYTES), channel.voidPromise());
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, ByteBuf some) {
    missing -= some.readableBytes();
    if (missing == 0) {
      IDLE.get().addLast(this);
      whenAnswered.run();
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    var _ = context.close(); // and the client of the request waits in vain
  }
}
