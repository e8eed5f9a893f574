package dev.weft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.weft.http.WeftHttpServerProvider;
import dev.weft.testkit.Feature;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The files that {@code ./weft http} serves, and those that it does not. */
@Feature("A2")
class HttpFolderTest {
  private static final String DATE = "Sun, 06 Nov 1994 08:49:37 GMT";
  private static final String LATER = "Mon, 07 Nov 1994 08:49:37 GMT";
  private static final List<String> ODD_NAMES =
      List.of(
          "<img src=x onerror=alert(1)>.txt",
          "javascript:alert(1)",
          "a b+c%20d&e#f?g\"h'i",
          "\u00E4\u20AC\uD83D\uDE42.md",
          "line\nbreak");

  @TempDir private static Path folder;
  private static HttpServer server;

  @BeforeAll
  static void start() throws IOException {
    Path root = Files.createDirectory(folder.resolve("root"));
    Files.writeString(folder.resolve("secret.txt"), "secret");
    Files.createDirectory(folder.resolve("root2"));
    Files.writeString(folder.resolve("root2/secret.txt"), "secret");
    file(root, "ten.txt", "0123456789");
    file(root, "empty.txt", "");
    file(root, ".hidden", "secret");
    file(root, ".git/config", "secret");
    file(root, "page/index.html", "<p>page</p>");
    file(root, "odd/plain.txt", "plain");
    for (String name : ODD_NAMES) {
      file(root, "odd/" + name, "odd");
    }
    Files.createSymbolicLink(root.resolve("inside"), Path.of("ten.txt"));
    Files.createSymbolicLink(root.resolve("outside"), folder.resolve("secret.txt"));
    Files.createSymbolicLink(root.resolve("up"), Path.of("..", "root2"));
    Files.createSymbolicLink(root.resolve("to-hidden"), Path.of(".git"));
    Files.createSymbolicLink(root.resolve("dangling"), Path.of("nowhere"));
    Files.createDirectory(root.resolve("trap"));
    Files.createSymbolicLink(root.resolve("trap/index.html"), folder.resolve("secret.txt"));
    server =
        new WeftHttpServerProvider()
            .createHttpServer(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", new HttpFolder(root));
    server.start();
  }

  private static void file(Path root, String name, String text) throws IOException {
    Path file = root.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
    Files.setLastModifiedTime(file, FileTime.from(Instant.parse("1994-11-06T08:49:37Z")));
  }

  @AfterAll
  static void stop() {
    server.stop(0);
  }

  /** Returns the whole response, head and body, to what is sent as it is. */
  private static String ask(String requestLine, String... headers) throws IOException {
    InetSocketAddress address = server.getAddress();
    try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
      String request =
          requestLine
              + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
              + String.join("", List.of(headers).stream().map(line -> line + "\r\n").toList())
              + "\r\n";
      socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      socket.getInputStream().transferTo(all);
      return all.toString(StandardCharsets.UTF_8);
    }
  }

  private static int status(String response) {
    return Integer.parseInt(response.substring(9, 12));
  }

  private static String body(String response) {
    return response.substring(response.indexOf("\r\n\r\n") + 4);
  }

  private static String header(String response, String name) {
    Matcher matcher =
        Pattern.compile("(?im)^" + name + ": (.*?)\r?$")
            .matcher(response.substring(0, response.indexOf("\r\n\r\n")));
    return matcher.find() ? matcher.group(1) : "";
  }

  // ---- ranges, conditions, types ----

  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      delimiter = '|',
      value = {
        "206 | bytes=0-0    | bytes 0-0/10 | 0",
        "206 | bytes=2-4    | bytes 2-4/10 | 234",
        "206 | bytes=7-     | bytes 7-9/10 | 789",
        "206 | bytes=-3     | bytes 7-9/10 | 789",
        "206 | bytes=-99    | bytes 0-9/10 | 0123456789",
        "206 | bytes=5-99   | bytes 5-9/10 | 56789",
        "416 | bytes=10-    | bytes */10   | ''",
        "416 | bytes=-0     | bytes */10   | ''",
        "200 | bytes=4-2    | ''           | 0123456789",
        "200 | bytes=a-b    | ''           | 0123456789",
        "200 | bytes=-      | ''           | 0123456789",
        "200 | lines=1-2    | ''           | 0123456789",
        "200 | bytes=0-1,3- | ''           | 0123456789",
        "200 | bytes=99999999999999999999- | '' | 0123456789"
      })
  void aRangeIsSent(int status, String range, String told, String body) throws Exception {
    String response = ask("GET /ten.txt", "Range: " + range);
    assertThat(status(response)).isEqualTo(status);
    assertThat(header(response, "Content-Range")).isEqualTo(told);
    assertThat(body(response)).isEqualTo(body);
    assertThat(header(response, "Content-Length")).isEqualTo(String.valueOf(body.length()));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "304 | If-None-Match: TAG",
        "304 | If-None-Match: *",
        "304 | If-None-Match: \"x\", W/TAG",
        "200 | If-None-Match: \"x\"",
        "304 | If-Modified-Since: DATE",
        "304 | If-Modified-Since: LATER",
        "304 | If-Modified-Since: Sunday, 06-Nov-94 08:49:37 GMT",
        "304 | If-Modified-Since: Sun Nov  6 08:49:37 1994",
        "200 | If-Modified-Since: Sun, 06 Nov 1994 08:49:36 GMT",
        "200 | If-Modified-Since: yesterday",
        "200 | If-None-Match: \"x\" ; If-Modified-Since: LATER",
        "200 | If-Match: TAG",
        "200 | If-Match: *",
        "412 | If-Match: \"x\"",
        "412 | If-Match: W/TAG",
        "412 | If-Unmodified-Since: Sun, 06 Nov 1994 08:49:36 GMT",
        "200 | If-Unmodified-Since: DATE",
        "206 | Range: bytes=0-0 ; If-Range: TAG",
        "206 | Range: bytes=0-0 ; If-Range: DATE",
        "200 | Range: bytes=0-0 ; If-Range: \"x\"",
        "200 | Range: bytes=0-0 ; If-Range: LATER",
        "304 | Range: bytes=0-0 ; If-None-Match: TAG"
      })
  void conditionsAreKept(int status, String conditions) throws Exception {
    String tag = header(ask("HEAD /ten.txt"), "ETag");
    assertThat(tag).matches("\"[0-9a-f]+-a\"");
    String[] headers =
        conditions
            .replace("TAG", tag)
            .replace("DATE", DATE)
            .replace("LATER", LATER)
            .split(" ; ", -1);
    String response = ask("GET /ten.txt", headers);
    assertThat(status(response)).isEqualTo(status);
    assertThat(header(response, "ETag")).isEqualTo(tag);
    assertThat(body(response).isEmpty()).isEqualTo(status >= 300);
  }

  @ParameterizedTest
  @CsvSource({
    "a.html, text/html; charset=utf-8",
    "a.txt, text/plain; charset=utf-8",
    "A.JS, text/javascript; charset=utf-8",
    "a.mjs, text/javascript; charset=utf-8",
    "a.css, text/css; charset=utf-8",
    "a.json, application/json",
    "a.svg, image/svg+xml",
    "a.png, image/png",
    "a.webp, image/webp",
    "a.wasm, application/wasm",
    "a.woff2, font/woff2",
    "a.tar.gz, application/gzip",
    "a.unheard-of, application/octet-stream",
    "README, application/octet-stream"
  })
  void theTypeIsThatOfTheName(String name, String type) {
    assertThat(HttpTypes.of(name)).isEqualTo(type);
  }

  @Test
  void aFileHasTheHeadersThatAClientNeeds() throws Exception {
    String response = ask("GET /ten.txt");
    assertThat(status(response)).isEqualTo(200);
    assertThat(body(response)).isEqualTo("0123456789");
    assertThat(header(response, "Last-Modified")).isEqualTo(DATE);
    assertThat(header(response, "Accept-Ranges")).isEqualTo("bytes");
    assertThat(header(response, "X-Content-Type-Options")).isEqualTo("nosniff");
    String head = ask("HEAD /ten.txt", "Range: bytes=0-0");
    assertThat(status(head)).isEqualTo(200);
    assertThat(header(head, "Content-Length")).isEqualTo("10");
    assertThat(body(head)).isEmpty();
    assertThat(header(ask("GET /empty.txt"), "Content-Length")).isEqualTo("0");
    assertThat(status(ask("GET /empty.txt", "Range: bytes=0-"))).isEqualTo(416);
    assertThat(header(ask("POST /ten.txt"), "Allow")).isEqualTo("GET, HEAD");
  }

  /** A file that is changed twice within a second keeps its date: RFC 9110, section 8.8.2.2. */
  @Test
  void aDateThatMayBeThatOfAnotherContentIsNoReasonForAPart() throws Exception {
    Path file = folder.resolve("root/fresh.txt");
    Files.writeString(file, "0123456789");
    for (int secondsAgo : new int[] {0, 30, 90}) {
      Instant modified = Instant.now().minusSeconds(secondsAgo);
      Files.setLastModifiedTime(file, FileTime.from(modified));
      String date = header(ask("HEAD /fresh.txt"), "Last-Modified");
      assertThat(date).isNotEmpty();
      String response = ask("GET /fresh.txt", "Range: bytes=0-0", "If-Range: " + date);
      assertThat(status(response))
          .as(secondsAgo + " s ago")
          .isEqualTo(secondsAgo == 90 ? 206 : 200);
      String tag = header(response, "ETag");
      assertThat(status(ask("GET /fresh.txt", "Range: bytes=0-0", "If-Range: " + tag)))
          .isEqualTo(206);
    }
    Files.delete(file);
  }

  // ---- what is below the folder ----

  @ParameterizedTest
  @CsvSource({
    "200, /ten.txt",
    "200, /%74en.txt",
    "200, http://x//ten.txt",
    "400, //x/ten.txt",
    "200, /inside",
    "200, /page/",
    "200, /",
    "301, /page",
    "404, /none",
    "404, /ten.txt/",
    "404, /../secret.txt",
    "404, /..%2Fsecret.txt",
    "404, /%2e%2e/secret.txt",
    "404, /page/../../secret.txt",
    "404, /page/../ten.txt",
    "404, /..%5Csecret.txt",
    "404, /../root2/secret.txt",
    "404, /.hidden",
    "404, /.git/config",
    "404, /outside",
    "404, /up/secret.txt",
    "404, /to-hidden/config",
    "404, /dangling",
    "404, /ten.txt%00.html",
    "404, /%FF%FE"
  })
  void onlyWhatIsBelowTheFolderIsServed(int status, String path) throws Exception {
    String response = ask("GET " + path);
    assertThat(status(response)).isEqualTo(status);
    assertThat(body(response)).doesNotContain("secret\n").isNotEqualTo("secret");
  }

  @Test
  void anIndexThatLeadsOutsideIsNone() throws Exception {
    String response = ask("GET /trap/");
    assertThat(status(response)).isEqualTo(200);
    assertThat(body(response)).doesNotContain("secret", "index.html");
  }

  @Test
  void aRedirectStaysOnThisServer() throws Exception {
    assertThat(header(ask("GET /page?a=b"), "Location")).isEqualTo("/page/?a=b");
    assertThat(header(ask("GET http://x////page"), "Location")).isEqualTo("/page/");
  }

  // ---- lists ----

  @Test
  void aListHasWhatIsServedAndNothingElse() throws Exception {
    assertThat(body(ask("GET /")))
        .contains(">ten.txt<", ">inside<", ">odd/<", ">page/<")
        .doesNotContain("hidden", "git", "outside", "up", "dangling");
  }

  @Test
  void namesInAListAreDataAndTheirLinksLeadToThem() throws Exception {
    String response = ask("GET /odd/");
    assertThat(header(response, "Content-Security-Policy")).startsWith("default-src 'none'");
    String list = body(response);
    assertThat(list).doesNotContain("<img", "href=\"javascript", "e#f?g\"");
    Matcher links = Pattern.compile("href=\"\\./([^\"]*)\"").matcher(list);
    int count = 0;
    while (links.find()) {
      String name = URLDecoder.decode(links.group(1), StandardCharsets.UTF_8);
      assertThat(body(ask("GET /odd/" + links.group(1))))
          .as(name)
          .isEqualTo(ODD_NAMES.contains(name) ? "odd" : "plain");
      count++;
    }
    assertThat(count).isEqualTo(ODD_NAMES.size() + 1);
    assertThat(status(ask("GET /odd/" + "%3Cscript%3E"))).isEqualTo(404);
  }
}
