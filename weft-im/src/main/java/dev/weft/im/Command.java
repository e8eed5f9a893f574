package dev.weft.im;

import dev.weft.im.Refusal.Code;
import java.util.List;
import java.util.regex.Pattern;

/** A line of a client's, understood. */
sealed interface Command {
  /** The most bytes of a line in UTF-8, without its end. */
  int MOST_BYTES = 8 * 1024;

  int LONGEST_TEXT = 4096;
  int SHORTEST_PASSWORD = 8;
  int LONGEST_PASSWORD = 128;
  int MOST_HISTORY = 100;
  int USUAL_HISTORY = 50;
  Pattern TOKEN = Pattern.compile("[A-Za-z0-9_-]{20,100}");

  record Register(String name, String password) implements Command {}

  record Login(String name, String password) implements Command {}

  /** Logs in by a token that the server gave. */
  record Resume(String token) implements Command {}

  /** Asks for a token. */
  record Token() implements Command {}

  record Join(String room) implements Command {}

  /** Makes a room that only invited users can join. */
  record MakePrivate(String room) implements Command {}

  record Invite(String room, String name) implements Command {}

  record Invitations() implements Command {}

  record Leave(String room) implements Command {}

  record Say(String room, String text) implements Command {}

  record Tell(String name, String text) implements Command {}

  record Who(String room) implements Command {}

  record Rooms() implements Command {}

  /** Asks for the users with whom this user has exchanged direct messages. */
  record Directs() implements Command {}

  /** Asks for messages of a room, or those exchanged with a user if direct, with smaller ids. */
  record History(boolean direct, String name, long before, int count) implements Command {}

  record Seen(long id) implements Command {}

  record Ping(String text) implements Command {}

  record Quit() implements Command {}

  /** Quits, and makes the token of this connection worthless. */
  record Logout() implements Command {}

  /**
   * Understands a line without its end.
   *
   * @throws Refusal with {@code syntax} or {@code limit}
   */
  static Command parse(String line) throws Refusal {
    if (line.length() > MOST_BYTES) {
      throw tooLong();
    }
    if (line.codePoints().anyMatch(Command::isForbidden)) {
      throw syntax("a line must have no control characters");
    }
    int space = line.indexOf(' ');
    String word = space < 0 ? line : line.substring(0, space);
    String rest = space < 0 ? "" : line.substring(space + 1);
    return switch (word) {
      case "REGISTER" -> {
        List<String> fields = two(rest, "REGISTER name password");
        yield new Register(name(fields.get(0)), password(fields.get(1)));
      }
      case "LOGIN" -> {
        List<String> fields = two(rest, "LOGIN name password");
        yield new Login(name(fields.get(0)), password(fields.get(1)));
      }
      case "RESUME" -> new Resume(token(rest));
      case "TOKEN" -> alone(space, new Token());
      case "JOIN" -> new Join(name(rest));
      case "PRIVATE" -> new MakePrivate(name(rest));
      case "INVITE" -> {
        List<String> fields = two(rest, "INVITE room name");
        yield new Invite(name(fields.get(0)), name(fields.get(1)));
      }
      case "INVITATIONS" -> alone(space, new Invitations());
      case "LEAVE" -> new Leave(name(rest));
      case "SAY" -> {
        List<String> fields = two(rest, "SAY room text");
        yield new Say(name(fields.get(0)), text(fields.get(1)));
      }
      case "TELL" -> {
        List<String> fields = two(rest, "TELL name text");
        yield new Tell(name(fields.get(0)), text(fields.get(1)));
      }
      case "WHO" -> new Who(name(rest));
      case "ROOMS" -> alone(space, new Rooms());
      case "DIRECTS" -> alone(space, new Directs());
      case "HISTORY" -> history(rest);
      case "SEEN" -> new Seen(number(rest, "SEEN id"));
      case "PING" -> new Ping(rest.isEmpty() ? rest : text(rest));
      case "QUIT" -> alone(space, new Quit());
      case "LOGOUT" -> alone(space, new Logout());
      default ->
          throw syntax(
              "a line must begin with REGISTER, LOGIN, RESUME, TOKEN, JOIN, LEAVE, PRIVATE, INVITE,"
                  + " INVITATIONS, SAY, TELL, WHO, ROOMS, DIRECTS, HISTORY, SEEN, PING, LOGOUT or"
                  + " QUIT");
    };
  }

  /** Unpaired surrogates have no form in UTF-8. */
  private static boolean isForbidden(int character) {
    return Character.isISOControl(character)
        || Character.getType(character) == Character.SURROGATE
        || character == 0x2028
        || character == 0x2029;
  }

  private static Command alone(int space, Command command) throws Refusal {
    if (space >= 0) {
      throw syntax("TOKEN, INVITATIONS, ROOMS, DIRECTS, LOGOUT and QUIT have nothing behind them");
    }
    return command;
  }

  private static List<String> two(String rest, String form) throws Refusal {
    int space = rest.indexOf(' ');
    if (space <= 0 || space == rest.length() - 1) {
      throw syntax("the form is: " + form);
    }
    return List.of(rest.substring(0, space), rest.substring(space + 1));
  }

  private static History history(String rest) throws Refusal {
    String form = "HISTORY room|@name [before-id] [count]";
    String[] words = rest.split(" ", -1);
    if (words.length > 3) {
      throw syntax("the form is: " + form);
    }
    boolean direct = words[0].startsWith("@");
    long before = words.length > 1 ? number(words[1], form) : Long.MAX_VALUE;
    long count = words.length > 2 ? number(words[2], form) : USUAL_HISTORY;
    if (count < 1 || count > MOST_HISTORY) {
      throw new Refusal(Code.LIMIT, "count must be 1 to " + MOST_HISTORY);
    }
    return new History(
        direct, name(direct ? words[0].substring(1) : words[0]), before, (int) count);
  }

  private static long number(String word, String form) throws Refusal {
    if (word.isEmpty() || word.length() > 19 || !word.chars().allMatch(c -> c >= '0' && c <= '9')) {
      throw syntax("the form is: " + form + ", with decimal numbers");
    }
    try {
      return Long.parseLong(word);
    } catch (NumberFormatException e) {
      return Long.MAX_VALUE; // 19 digits, but more than there will be messages
    }
  }

  private static String name(String word) throws Refusal {
    return Names.parse(word);
  }

  private static String token(String word) throws Refusal {
    if (!TOKEN.matcher(word).matches()) {
      throw syntax("the form is: RESUME token, with a token that TOKEN gave");
    }
    return word;
  }

  private static String password(String word) throws Refusal {
    if (word.indexOf(' ') >= 0) {
      throw syntax("a password must have no spaces");
    }
    int length = word.codePointCount(0, word.length());
    if (length < SHORTEST_PASSWORD || length > LONGEST_PASSWORD) {
      throw new Refusal(
          Code.LIMIT,
          "a password must have %d to %d characters"
              .formatted(SHORTEST_PASSWORD, LONGEST_PASSWORD));
    }
    return word;
  }

  private static String text(String text) throws Refusal {
    if (text.codePointCount(0, text.length()) > LONGEST_TEXT) {
      throw new Refusal(Code.LIMIT, "a text must have at most " + LONGEST_TEXT + " characters");
    }
    return text;
  }

  /** Returns the refusal of a line that is too long to be looked at. */
  static Refusal tooLong() {
    return new Refusal(Code.LIMIT, "a line must have at most " + MOST_BYTES + " bytes");
  }

  /** Returns the refusal of a line that is not as it has to be. */
  static Refusal syntax(String rule) {
    return new Refusal(Code.SYNTAX, rule);
  }
}
