import com.sun.net.httpserver.HttpServer;
import dev.weft.*;
import dev.weft.sync.*;

static final int PAGES = 40;
static final Pattern LINK = Pattern.compile("href='([^']+)'");

/**
 * Crawls a site with a limit and a deadline: the fiber of a page starts a fiber for each new link,
 * a semaphore lets at most four of them ask the site at a time, and the scope ends them all after
 * a second. The site has a page that does not come.
 */
void main() throws Exception {
  var asking = new AtomicInteger();
  var mostAsking = new AtomicInteger();
  var end = new CompletableFuture<Void>();
  HttpServer site = serveSite(asking, mostAsking, end);
  var crawl = new Crawl("http://127.0.0.1:" + site.getAddress().getPort(), new Semaphore(4));
  try (Scope scope = Scope.open(Scope.Joiner.awaitAllSuccessfulOrThrow(), Duration.ofSeconds(1))) {
    crawl.visit(scope, "/1");
    scope.join();
    IO.println("all pages are read");
  } catch (CompletionException e) {
    IO.println("deadline: " + (e.getCause() instanceof TimeoutException));
  }
  IO.println(crawl.read.get() + " pages read of " + crawl.seen.size() + " seen");
  IO.println("at most four requests at a time: " + (mostAsking.get() <= 4));
  end.complete(null);
  site.stop(0);
}

record Crawl(String address, Semaphore limit, Set<String> seen, AtomicInteger read) {
  Crawl(String address, Semaphore limit) {
    this(address, limit, ConcurrentHashMap.newKeySet(), new AtomicInteger());
  }

  void visit(Scope scope, String path) {
    if (seen.add(path)) {
      scope.go("page " + path, () -> {
        String text = fetch(path);
        read.incrementAndGet();
        LINK.matcher(text).results().forEach(link -> visit(scope, link.group(1)));
      });
    }
  }

  private String fetch(String path) throws IOException, InterruptedException {
    limit.acquire();
    try (InputStream in = URI.create(address + path).toURL().openStream()) { // blocking, hooked
      return new String(in.readAllBytes());
    } finally {
      limit.release();
    }
  }
}

/** Page n links to pages 2n and 2n + 1. Page 13 does not come before the end, so its links are not seen. */
HttpServer serveSite(AtomicInteger asking, AtomicInteger mostAsking, CompletableFuture<Void> end) throws IOException {
  HttpServer site = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
  site.createContext("/", exchange -> {
    mostAsking.accumulateAndGet(asking.incrementAndGet(), Math::max);
    int n = Integer.parseInt(exchange.getRequestURI().getPath().substring(1));
    if (n == 13) {
      end.join();
    }
    String text = "<a href='/%d'>left</a> <a href='/%d'>right</a>".formatted(2 * n, 2 * n + 1);
    byte[] body = (2 * n < PAGES ? text : "a leaf").getBytes();
    asking.decrementAndGet(); // before the answer: the client may ask again at once
    exchange.sendResponseHeaders(200, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  });
  site.start();
  return site;
}
