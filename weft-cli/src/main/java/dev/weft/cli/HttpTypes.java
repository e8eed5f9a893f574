package dev.weft.cli;

import java.net.URLConnection;
import java.util.Locale;
import java.util.Map;

/** The types of files by the ends of their names: those of the web that the JDK does not know. */
final class HttpTypes {
  private static final Map<String, String> TYPES =
      Map.ofEntries(
          Map.entry("avif", "image/avif"),
          Map.entry("css", "text/css"),
          Map.entry("csv", "text/csv"),
          Map.entry("htm", "text/html"),
          Map.entry("html", "text/html"),
          Map.entry("ico", "image/x-icon"),
          Map.entry("java", "text/plain"),
          Map.entry("js", "text/javascript"),
          Map.entry("json", "application/json"),
          Map.entry("log", "text/plain"),
          Map.entry("m4a", "audio/mp4"),
          Map.entry("map", "application/json"),
          Map.entry("md", "text/markdown"),
          Map.entry("mjs", "text/javascript"),
          Map.entry("mp3", "audio/mpeg"),
          Map.entry("mp4", "video/mp4"),
          Map.entry("ogg", "audio/ogg"),
          Map.entry("otf", "font/otf"),
          Map.entry("pdf", "application/pdf"),
          Map.entry("svg", "image/svg+xml"),
          Map.entry("ttf", "font/ttf"),
          Map.entry("txt", "text/plain"),
          Map.entry("wasm", "application/wasm"),
          Map.entry("wav", "audio/wav"),
          Map.entry("webm", "video/webm"),
          Map.entry("webmanifest", "application/manifest+json"),
          Map.entry("webp", "image/webp"),
          Map.entry("woff", "font/woff"),
          Map.entry("woff2", "font/woff2"),
          Map.entry("xml", "application/xml"),
          Map.entry("yaml", "application/yaml"),
          Map.entry("yml", "application/yaml"));

  private HttpTypes() {}

  /** Returns the type of a file, texts with their encoding; bytes if the name does not tell. */
  static String of(String name) {
    String end = name.substring(name.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
    String type = TYPES.get(end);
    if (type == null) {
      type = URLConnection.guessContentTypeFromName(name);
    }
    if (type == null || type.equals("content/unknown")) {
      return "application/octet-stream";
    }
    return type.startsWith("text/") ? type + "; charset=utf-8" : type;
  }
}
