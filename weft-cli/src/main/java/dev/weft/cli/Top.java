package dev.weft.cli;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jline.terminal.Attributes;
import org.jline.terminal.Size;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStyle;
import org.jline.utils.Display;
import org.jline.utils.InfoCmp.Capability;
import org.jline.utils.NonBlockingReader;

/**
 * A live screen of a process. This thread reads keys and draws; an {@link Asker} asks the process.
 */
final class Top {
  private static final long REFRESH_NANOS = 1_000_000_000;

  /** How long to wait for the first samples. */
  private static final long FIRST_NANOS = 300_000_000;

  /** From when on the screen says that the process does not answer. */
  private static final long SILENT_NANOS = 2_000_000_000;

  /** How long to wait for a key while an answer may come. */
  private static final long ANSWER_MILLIS = 20;

  /** After how long without another character an Escape is the key, and no part of an arrow. */
  private static final long ESCAPE_NANOS = 300_000_000;

  private static final int CTRL_C = 3;

  private static final String HELP =
      "c CPU  w longest wait  n newest  o oldest   ↑↓ choose  Enter stack  Space pause  q quit";
  private static final Map<Integer, String> ORDERS =
      Map.of((int) 'c', "cpu", (int) 'w', "wait", (int) 'n', "new", (int) 'o', "old");

  private final ProcessHandle process;
  private final Asker asker;
  private final Terminal terminal;
  private final Display display;
  private final KeyDecoder decoder = new KeyDecoder();
  private String order = "cpu";
  private int chosen;
  private boolean paused;

  // whether the characters that come belong to a key that has already closed the stack
  private boolean skipsKey;
  private long nextRefresh;

  // the fiber of which the stack is to be shown, or 0
  private long wanted;

  // the stack that is shown instead of the fibers; empty if none is
  private List<String> stack = List.of();

  // the first line of the stack that is shown, and when its last character came
  private int stackTop;
  private long lastCharacter;

  private SystemFigures system = SystemFigures.none();
  private TopPage page;

  private Top(ProcessHandle process, Asker asker, Terminal terminal, TopFigures first) {
    this.process = process;
    this.asker = asker;
    this.terminal = terminal;
    this.display = new Display(terminal, true);
    this.page = new TopPage(process.pid(), system, null, first, order);
  }

  /**
   * Shows the screen until the user ends it.
   *
   * @param once to print one page instead, after a second
   */
  static void run(ProcessHandle process, boolean once) throws IOException {
    try (Attached attached = Attached.to(process)) {
      if (once || !System.console().isTerminal()) {
        printOnce(attached);
        return;
      }
      TopFigures first = TopFigures.parse(attached.askOnce("top cpu 0"));
      try (Terminal terminal = openTerminal();
          Asker asker = new Asker(attached)) {
        new Top(process, asker, terminal, first).loop();
      }
    }
  }

  /**
   * Opens the terminal without asking it how it joins emoji: JLine calls stty a dozen times for
   * that, and an answer that takes longer than 100 ms would arrive among the keys.
   */
  private static Terminal openTerminal() throws IOException {
    return TerminalBuilder.builder()
        .name("weft top")
        .system(true)
        .dumb(false)
        .graphemeCluster(false)
        .build();
  }

  private static void printOnce(Attached process) throws IOException {
    ProcessHandle handle = process.process();
    SystemFigures system = SystemFigures.of(handle, SystemFigures.none());
    TopFigures before = TopFigures.parse(process.askOnce("top cpu 0"));
    try {
      Thread.sleep(Duration.ofNanos(REFRESH_NANOS));
    } catch (InterruptedException e) {
      return;
    }
    TopFigures now = TopFigures.parse(process.askOnce("top cpu 20"));
    system = SystemFigures.of(handle, system);
    TopPage page = new TopPage(handle.pid(), system, before, now, "cpu");
    page.lines().forEach(System.out::println);
  }

  // ---- the loop ----

  private void loop() throws IOException {
    Attributes before = terminal.enterRawMode();
    Attributes keysOnly = new Attributes(terminal.getAttributes());
    keysOnly.setLocalFlag(Attributes.LocalFlag.ISIG, false); // Ctrl-C is a key: see handle()
    terminal.setAttributes(keysOnly);
    Thread atExit = new Thread(Top::restoreScreen); // if a signal ends this process
    Runtime.getRuntime().addShutdownHook(atExit);
    terminal.puts(Capability.enter_ca_mode);
    terminal.puts(Capability.cursor_invisible);
    try {
      NonBlockingReader keys = terminal.reader();
      nextRefresh = System.nanoTime() + FIRST_NANOS;
      int character = 0; // negative if none has come
      while (character != NonBlockingReader.EOF && (character <= 0 || handle(character))) {
        leaveStackByEscape();
        asker.poll();
        askNext();
        draw();
        long rest = (nextRefresh - System.nanoTime()) / 1_000_000;
        boolean soon = asker.isAsking() || decoder.isInSequence();
        character = keys.read(soon ? ANSWER_MILLIS : Math.max(ANSWER_MILLIS, rest));
      }
    } finally {
      removeHook(atExit);
      terminal.puts(Capability.cursor_normal);
      terminal.puts(Capability.exit_ca_mode);
      terminal.setAttributes(before);
      terminal.flush();
    }
  }

  /** Restores the screen without the terminal: JLine closes it, and its modes, at the exit. */
  private static void restoreScreen() {
    System.out.print("\u001b[?25h\u001b[?1049l"); // the cursor, the main screen (xterm)
    System.out.flush();
  }

  private static void removeHook(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // it runs
    }
  }

  /** Asks what is to be shown next, unless a question is open. */
  private void askNext() {
    if (wanted != 0) {
      if (asker.ask("fiber " + wanted, this::showStack)) {
        wanted = 0;
      }
    } else if (System.nanoTime() - nextRefresh >= 0 && !paused && stack.isEmpty()) {
      String by = order;
      String request = "top " + by + " " + terminal.getSize().getRows();
      if (asker.ask(request, text -> show(TopFigures.parse(text), by))) {
        nextRefresh = System.nanoTime() + REFRESH_NANOS;
      }
    } else if (System.nanoTime() - nextRefresh >= 0) {
      nextRefresh = System.nanoTime() + REFRESH_NANOS;
    }
  }

  private void show(TopFigures now, String by) {
    system = SystemFigures.of(process, system);
    page = new TopPage(process.pid(), system, page.now(), now, by);
    choose(chosen);
  }

  private void showStack(String text) {
    stack = text.lines().toList();
    stackTop = 0;
  }

  private void choose(int row) {
    chosen = Math.clamp(row, 0, Math.max(0, page.now().fibers().size() - 1));
  }

  /** Takes a character of the terminal; returns false if it is the key that ends the screen. */
  private boolean handle(int character) {
    int key = decoder.accept(character);
    if (key == CTRL_C) {
      return false;
    }
    if (!stack.isEmpty()) {
      obeyInStack(key);
      return true;
    }
    if (key == KeyDecoder.NONE) {
      return true;
    }
    boolean skipped = skipsKey && key < 0;
    skipsKey = false;
    return skipped || obey(key);
  }

  /** Scrolls a stack that is longer than the screen; any other key leaves it. */
  private void obeyInStack(int key) {
    lastCharacter = System.nanoTime();
    if (mostStackTop() == 0) {
      leaveStack();
      return;
    }
    int page = bodyRows() - 1;
    switch (key) {
      case KeyDecoder.NONE -> {} // an arrow, or an Escape: see leaveStackByEscape
      case 'k', KeyDecoder.UP -> scroll(stackTop - 1);
      case 'j', KeyDecoder.DOWN -> scroll(stackTop + 1);
      case KeyDecoder.PAGE_UP -> scroll(stackTop - page);
      case ' ', KeyDecoder.PAGE_DOWN -> scroll(stackTop + page);
      case KeyDecoder.HOME -> scroll(0);
      case KeyDecoder.END -> scroll(stack.size());
      default -> {
        if (key > 0) { // less: an answer of the terminal, or a key of no use
          leaveStack();
        }
      }
    }
  }

  private void scroll(int line) {
    stackTop = Math.clamp(line, 0, mostStackTop());
  }

  private int mostStackTop() {
    return Math.max(0, stack.size() - bodyRows());
  }

  /**
   * Leaves the stack if an Escape came and nothing after it. An arrow of which the rest comes later
   * leaves the stack too, and does nothing else: see skipsKey.
   */
  private void leaveStackByEscape() {
    if (!stack.isEmpty()
        && decoder.isInSequence()
        && System.nanoTime() - lastCharacter >= ESCAPE_NANOS) {
      leaveStack();
    }
  }

  private void leaveStack() {
    stack = List.of();
    nextRefresh = System.nanoTime();
    skipsKey = decoder.isInSequence();
  }

  /** Does what a key asks for; returns false if that is the end. */
  private boolean obey(int key) {
    switch (key) {
      case 'q' -> {
        return false;
      }
      case ' ' -> paused = !paused;
      case 'k', KeyDecoder.UP -> choose(chosen - 1);
      case 'j', KeyDecoder.DOWN -> choose(chosen + 1);
      case '\r', '\n' -> {
        if (!page.now().fibers().isEmpty()) {
          wanted = page.now().fibers().get(chosen).id();
        }
      }
      default -> {
        String asked = ORDERS.get(key);
        if (asked != null) {
          order = asked;
          chosen = 0;
          paused = false;
          nextRefresh = System.nanoTime();
        }
      }
    }
    return true;
  }

  // ---- the screen ----

  /** The lines of the screen above the last one. */
  private int bodyRows() {
    return Math.max(2, terminal.getSize().getRows()) - 1;
  }

  private void draw() {
    Size size = terminal.getSize();
    int columns = Math.max(10, size.getColumns() - 1); // a full line would move the cursor on
    display.resize(size);
    List<AttributedString> lines = new ArrayList<>();
    int body = bodyRows();
    if (stack.isEmpty()) {
      page.head(body, columns).stream()
          .limit(body)
          .forEach(line -> lines.add(plain(line, columns)));
      List<String> fibers = page.fibers(columns);
      int room = Math.max(0, body - lines.size());
      int first = Math.max(0, chosen - room + 1);
      for (int i = first; i < Math.min(fibers.size(), first + room); i++) {
        lines.add(i == chosen ? inverse(fibers.get(i), columns) : plain(fibers.get(i), columns));
      }
    } else {
      scroll(stackTop); // the terminal may be larger now
      stack.stream().skip(stackTop).limit(body).forEach(line -> lines.add(plain(line, columns)));
    }
    while (lines.size() < body) {
      lines.add(AttributedString.EMPTY);
    }
    lines.add(inverse(lastLine(), columns));
    display.update(lines, -1);
  }

  private String lastLine() {
    if (asker.silentNanos() > SILENT_NANOS) {
      return "process %d has not answered for %d s%s   q quit"
          .formatted(
              process.pid(),
              asker.silentNanos() / 1_000_000_000,
              Attached.isStopped(process.pid()) ? ": it is stopped" : "");
    }
    if (stack.isEmpty()) {
      return (paused ? "paused  " : "") + HELP;
    }
    return mostStackTop() == 0
        ? "any key: back"
        : "lines %d to %d of %d  ↑↓ PgUp PgDn scroll  any other key: back"
            .formatted(stackTop + 1, stackTop + bodyRows(), stack.size());
  }

  private static AttributedString plain(String line, int columns) {
    return fitted(new AttributedString(line), columns);
  }

  private static AttributedString inverse(String line, int columns) {
    return fitted(new AttributedString(line, AttributedStyle.DEFAULT.inverse()), columns);
  }

  /** Cuts a line that is too long. Some characters take two columns. */
  private static AttributedString fitted(AttributedString line, int columns) {
    return line.columnLength() <= columns
        ? line
        : AttributedString.join(
            AttributedString.EMPTY,
            line.columnSubSequence(0, columns - 1),
            new AttributedString("…"));
  }
}
