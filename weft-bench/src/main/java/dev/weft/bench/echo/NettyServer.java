package dev.weft.bench.echo;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** Netty on its native epoll, with the allocator and the buffer sizes that it chooses itself. */
final class NettyServer implements EchoServer {
  @Override
  public void start(int threads, int buffer) {
    EventLoopGroup group = new MultiThreadIoEventLoopGroup(threads, EpollIoHandler.newFactory());
    EchoServer.tellPort(
        ((InetSocketAddress)
                new ServerBootstrap()
                    .group(group)
                    .channel(EpollServerSocketChannel.class)
                    .option(ChannelOption.SO_BACKLOG, BACKLOG)
                    .childOption(ChannelOption.TCP_NODELAY, true)
                    .childHandler(
                        new ChannelInitializer<SocketChannel>() {
                          @Override
                          protected void initChannel(SocketChannel channel) {
                            channel.pipeline().addLast(Echo.INSTANCE);
                          }
                        })
                    .bind(InetAddress.getLoopbackAddress(), 0)
                    .syncUninterruptibly()
                    .channel()
                    .localAddress())
            .getPort());
  }

  @ChannelHandler.Sharable
  private static final class Echo extends ChannelInboundHandlerAdapter {
    static final Echo INSTANCE = new Echo();

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      var _ = context.write(message, context.voidPromise());
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
      context.flush();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      var _ = context.close(); // the other side has hung up
    }
  }
}
