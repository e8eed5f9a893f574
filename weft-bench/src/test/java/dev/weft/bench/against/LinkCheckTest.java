package dev.weft.bench.against;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.Body;
import dev.weft.Coroutine;
import dev.weft.bench.model.EntryPoint;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Code that is compiled against today's Weft, checked against small builds of an older Weft. */
class LinkCheckTest {
  private @TempDir Path folder;

  /** A benchmark of which each method needs another part of Weft. */
  public static class Sample {
    /** Needs a static method. */
    public void yields() {
      Coroutine.yield();
    }

    /** Needs it three calls away, one of them in a lambda. */
    public void yieldsFarAway() {
      List<Runnable> later = List.of(() -> near());
      later.getFirst().run();
    }

    private static void near() {
      new Far().go();
    }

    /** Needs two methods. */
    public void resumes() {
      Coroutine.of(() -> {}).resume();
    }

    /** Needs an interface of Weft's that a lambda implements. */
    public Body body() {
      return () -> {};
    }

    /** Needs a state, which needs Weft. */
    public void withState(State state) {}
  }

  /** Is made for a method. */
  public static class State {
    private final Coroutine coroutine = Coroutine.of(() -> {});

    /** Makes sure that it is used. */
    public void resume() {
      coroutine.resume();
    }
  }

  private static final class Far {
    void go() {
      Coroutine.yield();
    }
  }

  @Test
  void todaysBuildLacksNothing() throws Exception {
    Path today =
        Path.of(Coroutine.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    LinkCheck check = new LinkCheck(List.of(today));

    assertThat(check.missing(new EntryPoint(Sample.class))).isEmpty();
    assertThat(check.missing(new EntryPoint(Sample.class, "withState"))).isEmpty();
  }

  @Test
  void onlyWhatTheMeasuredMethodReachesCounts() throws IOException {
    LinkCheck check =
        build("package dev.weft; public class Coroutine { public static void yield() {} }");

    assertThat(missing(check, "yields")).isEmpty();
    assertThat(missing(check, "yieldsFarAway")).isEmpty();
    assertThat(missing(check, "resumes"))
        .containsExactlyInAnyOrder(
            "class dev.weft.Body", "Coroutine.of(Body)", "Coroutine.resume()");
    assertThat(missing(check, "withState"))
        .containsExactlyInAnyOrder(
            "class dev.weft.Body", "Coroutine.of(Body)", "Coroutine.resume()");
  }

  @Test
  void lambdasAndObjectsThatAreMadeOnTheWayAreFollowed() throws IOException {
    LinkCheck check = build("package dev.weft; public class Coroutine {}");

    assertThat(missing(check, "yieldsFarAway")).containsExactly("Coroutine.yield()");
  }

  @Test
  void aMissingClassIsNamed() throws IOException {
    LinkCheck check = build("package dev.weft; public class Scheduler {}");

    assertThat(missing(check, "yields")).containsExactly("class dev.weft.Coroutine");
    assertThat(missing(check, "body")).containsExactly("class dev.weft.Body");
  }

  @Test
  void aClassThatBecameAnInterfaceDoesNotLink() throws IOException {
    LinkCheck check =
        build("package dev.weft; public interface Coroutine { static void yield() {} }");

    assertThat(missing(check, "yields")).containsExactly("Coroutine as a class");
  }

  @Test
  void aMethodThatNobodyMayCallIsNotThere() throws IOException {
    LinkCheck check = build("package dev.weft; public class Coroutine { static void yield() {} }");

    assertThat(missing(check, "yields")).containsExactly("Coroutine.yield()");
  }

  private static List<String> missing(LinkCheck check, String method) {
    return check.missing(new EntryPoint(Sample.class, method));
  }

  /** Compiles a library of one class. */
  private LinkCheck build(String source) throws IOException {
    String type = source.replaceAll(".*(?:class|interface) (\\w+).*", "$1");
    Path file = Files.writeString(folder.resolve(type + ".java"), source);
    Path classes = Files.createDirectory(folder.resolve("classes"));
    List<String> options = new ArrayList<>(List.of("-d", classes.toString(), file.toString()));
    int status =
        ToolProvider.getSystemJavaCompiler().run(null, null, null, options.toArray(String[]::new));
    assertThat(status).isZero();
    return new LinkCheck(List.of(classes));
  }
}
