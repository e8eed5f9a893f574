package dev.weft.cli;

import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/** The page that lists the files of a folder. Names are data there, never HTML or addresses. */
final class HttpListing {
  /** How many files are listed: a page has to fit into memory. */
  private static final int MOST = 10_000;

  private HttpListing() {}

  /**
   * Returns the page, sorted by name.
   *
   * @param path of the folder, as it was asked for
   * @param served what becomes of a file in it; empty if it is not served
   */
  static String of(String path, Path folder, Function<Path, Optional<Path>> served)
      throws IOException {
    TreeMap<String, Boolean> names = new TreeMap<>();
    boolean more = false;
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
      for (Path file : files) {
        String name = file.getFileName().toString();
        Optional<Path> real = name.startsWith(".") ? Optional.empty() : served.apply(file);
        if (real.isPresent()) {
          names.put(name, Files.isDirectory(real.get()));
          more |= names.size() > MOST;
          if (more) {
            break;
          }
        }
      }
    }
    StringBuilder items = new StringBuilder();
    if (path.length() > 1) {
      items.append("<li><a href=\"../\">../</a></li>\n");
    }
    names.forEach((name, isFolder) -> items.append(item(name + (isFolder ? "/" : ""))));
    if (more) {
      items.append("<li>and more than are listed here</li>\n");
    }
    return """
    <!DOCTYPE html>
    <html><head><meta charset="utf-8"><title>%1$s</title>
    <style>body { font: 1em/1.5 sans-serif; margin: 2em } ul { list-style: none; padding: 0 }</style>
    </head><body><h1>%1$s</h1>
    <ul>
    %2$s</ul>
    </body></html>
    """
        .formatted(escaped(path.isEmpty() ? "/" : path), items);
  }

  private static String item(String name) {
    return "<li><a href=\"%s\">%s</a></li>\n".formatted(address(name), escaped(name));
  }

  /** Without the dot a name such as {@code javascript:x} would be an address of its own. */
  private static String address(String name) {
    return "./"
        + URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20").replace("%2F", "/");
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;")
        .replace("'", "&#39;");
  }
}
