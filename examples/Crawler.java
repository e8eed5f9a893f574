//DEPS com.squareup.okhttp3:okhttp-jvm:5.5.1

import com.sun.net.httpserver.HttpServer;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.Response;

static final int PAGES = 200;
static final Pattern LINK = Pattern.compile("href='([^']+)'");

record Page(int status, List<String> links) {}

/**
 * Crawls a site with OkHttp, all pages of a level at once, with a virtual thread for each. Plain
 * blocking code that knows nothing of Weft: under ./weft run its threads are fibers. The program
 * serves the site too, some 200 slow pages. PoliteCrawler has a limit and a deadline.
 */
void main() throws Exception {
  HttpServer site = serveSite();
  String address = "http://127.0.0.1:" + site.getAddress().getPort();
  OkHttpClient client = new OkHttpClient();
  Set<String> seen = new LinkedHashSet<>(List.of("/1"));
  try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
    for (List<String> level = List.of("/1"); !level.isEmpty(); ) {
      List<Future<Page>> pages = new ArrayList<>();
      for (String path : level) {
        pages.add(threads.submit(() -> fetch(client, address + path)));
      }
      List<String> next = new ArrayList<>();
      int missing = 0;
      for (Future<Page> page : pages) {
        missing += page.get().status() == 404 ? 1 : 0;
        for (String link : page.get().links()) {
          if (seen.add(link)) {
            next.add(link);
          }
        }
      }
      IO.println("%3d pages, %d of them missing".formatted(level.size(), missing));
      level = next;
    }
  }
  IO.println(seen.size() + " addresses in all");
  client.connectionPool().evictAll();
  site.stop(0);
}

Page fetch(OkHttpClient client, String url) throws IOException {
  try (Response response = client.newCall(new Request.Builder().url(url).build()).execute()) {
    String text = response.body().string();
    return new Page(response.code(), LINK.matcher(text).results().map(link -> link.group(1)).toList());
  }
}

/** Page n links to pages 3n to 3n + 2 and back to n / 2; beyond the last page the server answers 404. */
HttpServer serveSite() throws IOException {
  HttpServer site = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), PAGES);
  site.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
  site.createContext("/", exchange -> {
    int n = Integer.parseInt(exchange.getRequestURI().getPath().substring(1));
    LockSupport.parkNanos(50_000_000); // a slow page
    String text = "<a href='/%d'>one</a> <a href='/%d'>two</a> <a href='/%d'>three</a> <a href='/%d'>back</a>"
        .formatted(3 * n, 3 * n + 1, 3 * n + 2, Math.max(1, n / 2));
    byte[] body = (n <= PAGES ? text : "no such page").getBytes();
    exchange.sendResponseHeaders(n <= PAGES ? 200 : 404, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  });
  site.start();
  return site;
}
