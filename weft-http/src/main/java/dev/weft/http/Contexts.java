package dev.weft.http;

import com.sun.net.httpserver.HttpContext;
import org.jspecify.annotations.Nullable;

/** The contexts of a server. Written seldom, under this; read at each request, without a lock. */
final class Contexts {
  // longest path first
  private volatile Context[] all = {};

  /** Returns the context with the longest path that the given path begins with. */
  @Nullable Context find(String path) {
    for (Context context : all) {
      if (path.startsWith(context.getPath())) {
        return context;
      }
    }
    return null;
  }

  synchronized void add(Context added) {
    if (indexOf(added.getPath()) >= 0) {
      throw new IllegalArgumentException("there is a context " + added.getPath() + " already");
    }
    Context[] before = all;
    Context[] after = new Context[before.length + 1];
    int at = 0;
    while (at < before.length && before[at].getPath().length() >= added.getPath().length()) {
      after[at] = before[at];
      at++;
    }
    after[at] = added;
    System.arraycopy(before, at, after, at + 1, before.length - at);
    all = after;
  }

  synchronized void remove(String path) {
    int at = indexOf(path);
    if (at < 0) {
      throw new IllegalArgumentException("there is no context " + path);
    }
    Context[] before = all;
    Context[] after = new Context[before.length - 1];
    System.arraycopy(before, 0, after, 0, at);
    System.arraycopy(before, at + 1, after, at, after.length - at);
    all = after;
  }

  synchronized void remove(HttpContext context) {
    int at = indexOf(context.getPath());
    if (at < 0 || all[at] != context) {
      throw new IllegalArgumentException(context + " is not a context of this server");
    }
    remove(context.getPath());
  }

  private int indexOf(String path) {
    Context[] seen = all;
    for (int i = 0; i < seen.length; i++) {
      if (seen[i].getPath().equals(path)) {
        return i;
      }
    }
    return -1;
  }
}
