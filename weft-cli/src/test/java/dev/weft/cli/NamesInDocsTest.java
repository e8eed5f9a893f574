package dev.weft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Feature;
import java.io.IOException;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Members of Weft's public types that a page names in passing, outside of its programs. */
@Feature("P4")
class NamesInDocsTest {
  private static final Pattern INLINE_CODE = Pattern.compile("`([^`\n]+)`");
  private static final Pattern MEMBER =
      Pattern.compile("\\b([A-Z]\\w*)\\.([a-z]\\w*)\\b(\\([^)])?");

  /** Endings of files look like members: {@code Server.java}. */
  private static final List<String> FILE_ENDINGS = List.of("java", "jar", "jfr", "html");

  @Test
  void everyMemberThatAPageNamesIsThere() throws Exception {
    Map<String, Class<?>> types = publicTypes();
    List<String> missing = new ArrayList<>();
    int found = 0;
    for (DocPage page : DocPage.all()) {
      Matcher code = INLINE_CODE.matcher(Files.readString(page.file()));
      while (code.find()) {
        Matcher member = MEMBER.matcher(code.group(1));
        while (member.find()) {
          Optional<Class<?>> type = Optional.ofNullable(types.get(member.group(1)));
          if (type.isEmpty() || FILE_ENDINGS.contains(member.group(2))) {
            continue;
          }
          if (hasMember(type.get(), member.group(2), member.group(3) != null)) {
            found++;
          } else {
            missing.add(Script.ROOT.relativize(page.file()) + ": " + member.group());
          }
        }
      }
    }
    assertThat(missing).isEmpty();
    assertThat(found).isPositive();
  }

  private static boolean hasMember(Class<?> type, String name, boolean withArguments) {
    return Stream.of(type.getMethods())
            .filter(method -> method.getParameterCount() > 0 || !withArguments)
            .anyMatch(method -> method.getName().equals(name))
        || Stream.of(type.getFields()).anyMatch(field -> field.getName().equals(name));
  }

  /** The public types of the packages that weft-core and weft-http export, by their simple name. */
  private static Map<String, Class<?>> publicTypes() throws Exception {
    Map<String, Class<?>> types = new HashMap<>();
    for (String module : List.of("weft-core", "weft-http")) {
      Path sources = Script.ROOT.resolve(module).resolve("src/main/java");
      for (Path file : sourceFiles(sources)) {
        String name = sources.relativize(file).toString().replace(".java", "").replace('/', '.');
        Class<?> type = Class.forName(name, false, NamesInDocsTest.class.getClassLoader());
        if (Modifier.isPublic(type.getModifiers())) {
          types.put(type.getSimpleName(), type);
        }
      }
    }
    return types;
  }

  private static List<Path> sourceFiles(Path sources) throws IOException {
    try (Stream<Path> files = Files.walk(sources.resolve("dev/weft"))) {
      return files
          .filter(file -> file.toString().endsWith(".java"))
          .filter(file -> !file.toString().matches(".*(/internal/|-info).*"))
          .toList();
    }
  }
}
