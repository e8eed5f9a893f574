package dev.weft;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;

/** The snippets of the Javadoc of scopes: compiled, run and checked here. */
class ScopeSnippetsTest {
  private static String fetch(String what) throws InterruptedException {
    Fiber.sleep(Duration.ofMillis(1));
    return what;
  }

  @Test
  void all() throws Exception {
    // @start region="all"
    String page;
    try (Scope scope = Scope.open()) {
      Fiber<String> head = scope.go(() -> fetch("head"));
      Fiber<String> body = scope.go(() -> fetch("body"));
      scope.join(); // if one fiber fails, the other is cancelled, and the failure comes out here
      page = head.join() + " and " + body.join();
    }
    // @end
    assertThat(page).isEqualTo("head and body");
  }

  @Test
  void any() {
    Callable<String> slow = () -> fetchAfter(Duration.ofHours(1));
    Callable<String> quick = () -> fetchAfter(Duration.ZERO);
    // @start region="any"
    String answer;
    Scope.Joiner<String> first = Scope.Joiner.anySuccessfulResultOrThrow();
    try (Scope scope = Scope.open(first, Duration.ofSeconds(30))) {
      scope.go(slow);
      scope.go(quick);
      scope.join(); // the first success cancels the others
      answer = first.result();
    }
    // @end
    assertThat(answer).isEqualTo("after PT0S");
  }

  // @start region="crawl"
  void crawl(Scope scope, String page) throws Exception {
    for (String link : linksOf(page)) {
      scope.go("crawl " + link, () -> crawl(scope, link)); // the opener's join() waits for it too
    }
  }

  // @end

  private final Set<String> crawled = ConcurrentHashMap.newKeySet();

  private List<String> linksOf(String page) throws InterruptedException {
    crawled.add(fetch(page));
    return page.length() < 3 ? List.of(page + "a", page + "b") : List.of();
  }

  @Test
  void crawlAll() {
    try (Scope scope = Scope.open()) {
      scope.go(() -> crawl(scope, "/"));
      scope.join();
    }
    assertThat(crawled).containsExactlyInAnyOrder("/", "/a", "/b", "/aa", "/ab", "/ba", "/bb");
  }

  private static String fetchAfter(Duration time) throws InterruptedException {
    Fiber.sleep(time);
    return "after " + time;
  }
}
