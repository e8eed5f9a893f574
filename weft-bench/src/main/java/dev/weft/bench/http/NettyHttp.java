package dev.weft.bench.http;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.concurrent.TimeUnit;

/** Netty's HttpServerCodec: all on the event loop, which has a timer and a client of its own. */
final class NettyHttp extends SimpleChannelInboundHandler<HttpObject> {
  // as a server that keeps to RFC 9110 does, made anew once a second
  private static volatile String date = "";

  private final HttpWork work;

  private NettyHttp(HttpWork work) {
    this.work = work;
  }

  static int start(int threads, HttpWork work) {
    EventLoopGroup group = new MultiThreadIoEventLoopGroup(threads, EpollIoHandler.newFactory());
    tick();
    var _ = group.scheduleAtFixedRate(NettyHttp::tick, 1, 1, TimeUnit.SECONDS);
    return ((InetSocketAddress)
            new ServerBootstrap()
                .group(group)
                .channel(EpollServerSocketChannel.class)
                .option(ChannelOption.SO_BACKLOG, HttpPeer.BACKLOG)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(
                    new ChannelInitializer<SocketChannel>() {
                      @Override
                      protected void initChannel(SocketChannel channel) {
                        channel.pipeline().addLast(new HttpServerCodec(), new NettyHttp(work));
                      }
                    })
                .bind(InetAddress.getLoopbackAddress(), 0)
                .syncUninterruptibly()
                .channel()
                .localAddress())
        .getPort();
  }

  private static void tick() {
    date = DateTimeFormatter.RFC_1123_DATE_TIME.format(ZonedDateTime.now(ZoneOffset.UTC));
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, HttpObject part) {
    if (!(part instanceof LastHttpContent)) {
      return;
    }
    switch (work) {
      case PLAIN -> {
        var _ = context.write(response(), context.voidPromise());
      }
      case SLEEP -> {
        var _ =
            context
                .executor()
                .schedule(
                    () -> {
                      var _ = context.writeAndFlush(response(), context.voidPromise());
                    },
                    HttpWork.SLEEP_MILLIS,
                    TimeUnit.MILLISECONDS);
      }
      case ROUND_TRIP ->
          NettyBackend.ask(
              context.channel().eventLoop(),
              () -> {
                var _ = context.writeAndFlush(response(), context.voidPromise());
              });
    }
  }

  private static FullHttpResponse response() {
    FullHttpResponse response =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1, HttpResponseStatus.OK, Unpooled.wrappedBuffer(HttpWork.BYTES));
    response
        .headers()
        .set(HttpHeaderNames.CONTENT_TYPE, "text/plain")
        .set(HttpHeaderNames.DATE, date)
        .setInt(HttpHeaderNames.CONTENT_LENGTH, HttpWork.BYTES.length);
    return response;
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
