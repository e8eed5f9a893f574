package dev.weft.im;

import dev.weft.im.Message.Draft;
import dev.weft.im.Refusal.Code;
import java.util.ArrayList;
import java.util.List;

/** What users who are logged in can do: each command has an answer, of one line but for HISTORY. */
final class Commands {
  private final Node node;
  private final Store store;

  Commands(Node node) {
    this.node = node;
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
        store.join(me, room);
        yield List.of("OK JOIN " + room);
      }
      case Command.Leave(String room) -> {
        if (!store.leave(me, room)) {
          throw notMember(room);
        }
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
      case Command.History history -> history(me, history);
      case Command.Ping _, Command.Register _, Command.Login _, Command.Seen _, Command.Quit _ ->
          throw new IllegalArgumentException("a matter of the session: " + command);
    };
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
