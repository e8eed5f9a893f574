package dev.weft.console;

import dev.weft.internal.sched.FiberCore;
import dev.weft.internal.sched.ScopeLooks;
import dev.weft.internal.watch.FiberLooks;
import dev.weft.internal.watch.FiberWalk;
import java.util.ArrayList;
import java.util.List;

/** What a page shows besides the overview: a walk fills it, and it becomes a message. */
sealed interface Shown {
  int MOST_FOUND = 200;
  int MOST_SCOPE_LINES = 500;

  /** Returns what a page that said {@code look ...} shows; it asks for no message as a rule. */
  static Shown of(String look) {
    if (look.equals("fibers") || look.startsWith("fibers ")) {
      String text = look.substring("fibers".length()).strip();
      return new Found(text, new FiberWalk.Search(text, MOST_FOUND));
    }
    return look.equals("scopes") ? new Tree(new FiberWalk.Scopes(MOST_SCOPE_LINES)) : new Nothing();
  }

  /** Returns whether a look needs a walk. */
  static boolean needsWalk(String look) {
    return !(of(look) instanceof Nothing);
  }

  /** Returns what takes part in the walk. */
  List<FiberWalk.Visitor> visitors();

  /** Returns the fibers that the message lists; after the walk. */
  List<FiberCore<?>> fibers();

  /** Returns the message, after the walk; empty for none. */
  String message();

  /** The fibers with a text in their names. */
  record Found(String text, FiberWalk.Search search) implements Shown {
    @Override
    public List<FiberWalk.Visitor> visitors() {
      return List.of(search);
    }

    @Override
    public List<FiberCore<?>> fibers() {
      return search.fibers();
    }

    @Override
    public String message() {
      Json json = new Json().object().field("type", "fibers").field("text", text);
      json.field("more", search.hasMore()).key("fibers");
      Collector.lines(json, search.fibers());
      return json.endObject().toString();
    }
  }

  /** The tree of scopes. */
  record Tree(FiberWalk.Scopes scopes) implements Shown {
    @Override
    public List<FiberWalk.Visitor> visitors() {
      return List.of(scopes);
    }

    @Override
    public List<FiberCore<?>> fibers() {
      List<FiberCore<?>> fibers = new ArrayList<>();
      for (ScopeLooks.Line line : scopes.lines()) {
        if (line.fiber() != null) {
          fibers.add(line.fiber());
        }
      }
      return fibers;
    }

    @Override
    public String message() {
      long now = System.nanoTime();
      Json json = new Json().object().field("type", "scopes").key("lines").array();
      for (ScopeLooks.Line line : scopes.lines()) {
        json.object().field("depth", line.depth()).field("label", line.label());
        if (line.fiber() != null) {
          json.key("fiber");
          Collector.line(json, FiberLooks.line(line.fiber(), now));
        }
        json.endObject();
      }
      return json.endArray().endObject().toString();
    }
  }

  /** The overview, which the ticks fill. */
  record Nothing() implements Shown {
    @Override
    public List<FiberWalk.Visitor> visitors() {
      return List.of();
    }

    @Override
    public List<FiberCore<?>> fibers() {
      return List.of();
    }

    @Override
    public String message() {
      return "";
    }
  }
}
