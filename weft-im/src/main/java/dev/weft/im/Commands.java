package dev.weft.im;

import dev.weft.im.Events.Event;
import dev.weft.im.Message.Draft;
import dev.weft.im.Refusal.Code;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What users can do once they are logged in: each command has an answer, of one line but for
 * HISTORY.
 */
final class Commands {
  private static final int MOST_DIRECTS = 100;

  private final Node node;
  private final Session session;
  private final Store store;

  Commands(Node node, Session session) {
    this.node = node;
    this.session = session;
    this.store = node.store();
  }

  /**
   * Carries out a command of a user's, and returns the lines of the answer.
   *
   * @throws Refusal if that is the answer
   * @throws Store.StoreException if the store fails
   */
  List<String> carryOut(String me, Command command) throws Refusal, InterruptedException {
    return switch (command) {
      case Command.Join(String room) -> {
        if (!store.roomExists(room)) {
          Names.checkNew(room);
        }
        entered(me, room, store.join(me, room, Names.skeleton(room)));
        yield List.of("OK JOIN " + room);
      }
      case Command.MakePrivate(String room) -> {
        Names.checkNew(room);
        entered(me, room, store.makePrivate(me, room, Names.skeleton(room)));
        yield List.of("OK PRIVATE " + room);
      }
      case Command.Invite(String room, String name) -> {
        checkMember(me, room);
        checkUser(name);
        if (store.invite(name, room)) {
          tell("@" + name, null, "INVITED " + room + " " + me);
        }
        yield List.of("OK INVITE " + room + " " + name);
      }
      case Command.Invitations() -> List.of(words("OK INVITATIONS", store.invitations(me)));
      case Command.Leave(String room) -> {
        if (!store.leave(me, room)) {
          throw notMember(room);
        }
        tell(room, me, "LEFT " + room + " " + me);
        yield List.of("OK LEAVE " + room);
      }
      case Command.Say(String room, String text) -> {
        checkMember(me, room);
        yield List.of("OK SAY " + node.journal().append(new Draft(room, me, null, text)));
      }
      case Command.Tell(String name, String text) -> {
        checkUser(name);
        yield List.of("OK TELL " + node.journal().append(new Draft(null, me, name, text)));
      }
      case Command.Who(String room) -> List.of(who(me, room));
      case Command.Rooms() -> List.of(words("OK ROOMS", store.rooms(me)));
      case Command.Directs() ->
          List.of(
              words(
                  "OK DIRECTS",
                  store.directs(me, MOST_DIRECTS).stream()
                      .map(direct -> direct.peer() + ":" + direct.lastId())
                      .toList()));
      case Command.History history -> history(me, history);
      case Command.Ping _,
          Command.Register _,
          Command.Login _,
          Command.Resume _,
          Command.Token _,
          Command.Seen _,
          Command.Logout _,
          Command.Quit _ ->
          throw new IllegalArgumentException("a matter of the session: " + command);
    };
  }

  private void entered(String me, String room, Store.Joining outcome) throws Refusal {
    switch (outcome) {
      case JOINED -> tell(room, null, "JOINED " + room + " " + me);
      case ALREADY_MEMBER -> {}
      case NOT_INVITED ->
          throw new Refusal(Code.DENIED, room + " is private; a member can INVITE you");
      case EXISTS -> throw new Refusal(Code.EXISTS, "there is a room " + room);
      case LOOKS_LIKE_ANOTHER ->
          throw new Refusal(Code.EXISTS, "there is a room with a name like " + room);
    }
  }

  private void tell(String audience, @Nullable String alsoTo, String line) {
    node.events().tell(store, new Event(audience, alsoTo, line, session));
    node.bus().tell(audience, alsoTo, line);
  }

  private String who(String me, String room) throws Refusal {
    checkMember(me, room);
    List<String> members =
        store.members(room).keySet().stream()
            .map(name -> name + (node.presence().isOnline(name) ? ":online" : ":away"))
            .toList();
    return words("OK WHO " + room, members);
  }

  private List<String> history(String me, Command.History asked) throws Refusal {
    List<Message> messages;
    if (asked.direct()) {
      checkUser(asked.name());
      messages = store.between(me, asked.name(), asked.before(), asked.count());
    } else {
      checkMember(me, asked.name());
      messages = store.ofRoom(asked.name(), asked.before(), asked.count());
    }
    List<String> lines = new ArrayList<>();
    lines.add("OK HISTORY " + messages.size());
    messages.forEach(message -> lines.add(message.lineFor(me)));
    return lines;
  }

  private static String words(String first, List<String> others) {
    return others.isEmpty() ? first : first + " " + String.join(" ", others);
  }

  private void checkMember(String me, String room) throws Refusal {
    if (!store.isMember(me, room)) {
      throw notMember(room);
    }
  }

  private Refusal notMember(String room) {
    return store.roomExists(room)
        ? new Refusal(Code.DENIED, "you are not in " + room + "; JOIN it first")
        : new Refusal(Code.UNKNOWN, "there is no room " + room + "; JOIN makes it");
  }

  private void checkUser(String name) throws Refusal {
    if (store.secret(name).isEmpty()) {
      throw new Refusal(Code.UNKNOWN, "there is no user " + name);
    }
  }
}
