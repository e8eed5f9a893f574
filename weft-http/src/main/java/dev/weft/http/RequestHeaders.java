package dev.weft.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import com.sun.net.httpserver.Headers;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * The headers of a request, which cannot be changed. They are kept as the bytes that came, and
 * parsed into a map when the handler first asks for a header: many handlers never do, and a map of
 * strings costs more than the rest of a short request.
 */
final class RequestHeaders extends Headers {
  private final byte[] lines;
  private @Nullable String host;
  private @Nullable Headers map;

  /**
   * Creates them.
   *
   * @param lines each with a colon and CR LF behind it, as {@link RequestHead} has found them
   */
  RequestHeaders(byte[] lines) {
    this.lines = lines;
  }

  /** Replaces the Host, or adds it, by what the target has: RFC 9112, section 3.2.2. */
  void host(String authority) {
    host = authority;
  }

  /**
   * Forgets the map, which may take five times the memory of the bytes, on a connection that may
   * stay for hours; they are parsed again if the handler asks for one.
   */
  void forgetMap() {
    map = null;
  }

  private Headers map() {
    Headers known = map;
    if (known == null) {
      known = Headers.of(parse());
      map = known;
    }
    return known;
  }

  private Headers parse() {
    Headers parsed = new Headers();
    for (int at = 0; at < lines.length; ) {
      int colon = at;
      while (lines[colon] != ':') {
        colon++;
      }
      int end = colon + 1;
      while (lines[end] != '\r') {
        end++;
      }
      String value = new String(lines, colon + 1, end - colon - 1, ISO_8859_1);
      parsed.add(new String(lines, at, colon - at, ISO_8859_1), value.strip());
      at = end + 2;
    }
    if (host != null) {
      parsed.set("Host", host);
    }
    return parsed;
  }

  // ---- looking ----

  @Override
  public int size() {
    return map().size();
  }

  @Override
  public boolean isEmpty() {
    return map().isEmpty();
  }

  @Override
  public boolean containsKey(Object key) {
    return map().containsKey(key);
  }

  @Override
  public boolean containsValue(Object value) {
    return map().containsValue(value);
  }

  @Override
  public List<String> get(Object key) {
    return map().get(key);
  }

  @Override
  public String getFirst(String key) {
    return map().getFirst(key);
  }

  @Override
  public Set<String> keySet() {
    return map().keySet();
  }

  @Override
  public Collection<List<String>> values() {
    return map().values();
  }

  @Override
  public Set<Map.Entry<String, List<String>>> entrySet() {
    return map().entrySet();
  }

  @Override
  public boolean equals(Object other) {
    return map().equals(other);
  }

  @Override
  public int hashCode() {
    return map().hashCode();
  }

  @Override
  public String toString() {
    return map().toString();
  }

  // ---- changing: what an unmodifiable map says ----

  @Override
  public List<String> put(String key, List<String> value) {
    return map().put(key, value);
  }

  @Override
  public void add(String key, String value) {
    map().add(key, value);
  }

  @Override
  public void set(String key, String value) {
    map().set(key, value);
  }

  @Override
  public List<String> remove(Object key) {
    return map().remove(key);
  }

  @Override
  public void putAll(Map<? extends String, ? extends List<String>> all) {
    map().putAll(all);
  }

  @Override
  public void clear() {
    map().clear();
  }

  @Override
  public void replaceAll(
      BiFunction<? super String, ? super List<String>, ? extends List<String>> function) {
    map().replaceAll(function);
  }
}
