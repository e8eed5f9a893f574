package dev.weft.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A page of the documentation and its fenced blocks. What a snippet needs to compile and the reader
 * need not see stands above the snippet, in a comment of the page: {@code <!-- given … -->}. A
 * snippet that needs other libraries can be a part of a source file, which the comment names:
 * {@code <!-- in ShopTest -->}. A whole file of a project is named with its path: {@code <!-- file
 * src/Main.java -->}.
 */
record DocPage(Path file, List<Block> blocks) {
  private static final Pattern FENCED =
      Pattern.compile("(?ms)(?:^<!-- (given|in|file)\\s(.*?)-->\\n)?^```(\\w*)\\n(.*?)^```$");

  /**
   * A fenced block.
   *
   * @param language what the fence says, empty for output
   * @param comment the word that begins the comment above the block; empty without a comment
   * @param rest the rest of that comment
   */
  record Block(Path page, int line, String language, String text, String comment, String rest) {
    /** Returns whether this is a whole program and no fragment. */
    boolean isProgram() {
      return isJava() && !isPart() && !isFile() && text.contains("void main(");
    }

    /** Returns whether this is a part of the class {@link #name}. */
    boolean isPart() {
      return comment.equals("in");
    }

    /** Returns whether this is the whole file {@link #name} of a project. */
    boolean isFile() {
      return comment.equals("file");
    }

    String name() {
      return rest.strip();
    }

    /** Returns the declarations that the page hides. */
    String given() {
      return comment.equals("given") ? rest : "";
    }

    boolean isJava() {
      return language.equals("java");
    }

    @Override
    public String toString() {
      return Script.ROOT.relativize(page) + ":" + line;
    }
  }

  /** Reads all pages: the README, those in docs, and others beside them. */
  static List<DocPage> all() throws IOException {
    List<DocPage> pages = new ArrayList<>();
    for (String name : List.of("README.md", "CONTRIBUTING.md", "examples/README.md")) {
      pages.add(read(Script.ROOT.resolve(name)));
    }
    try (Stream<Path> docs = Files.walk(Script.ROOT.resolve("docs"))) {
      for (Path file : docs.filter(file -> file.toString().endsWith(".md")).sorted().toList()) {
        pages.add(read(file));
      }
    }
    return pages;
  }

  static DocPage read(Path file) throws IOException {
    String text = Files.readString(file);
    List<Block> blocks = new ArrayList<>();
    Matcher fenced = FENCED.matcher(text);
    while (fenced.find()) {
      int line = (int) text.substring(0, fenced.start(3)).lines().count();
      String comment = Objects.requireNonNullElse(fenced.group(1), "");
      String rest = Objects.requireNonNullElse(fenced.group(2), "");
      blocks.add(new Block(file, line, fenced.group(3), fenced.group(4), comment, rest));
    }
    return new DocPage(file, blocks);
  }

  /** Returns the block that follows another, which shows what a program prints. */
  Block after(Block block) {
    int next = blocks.indexOf(block) + 1;
    if (next == blocks.size()) {
      throw new AssertionError(block + " is a program, and the page does not show what it prints");
    }
    return blocks.get(next);
  }
}
