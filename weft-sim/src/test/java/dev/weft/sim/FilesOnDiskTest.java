package dev.weft.sim;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.DSYNC;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weft.testkit.Feature;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.FileWriter;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Each way to change a file: a crash loses the change unless it was forced. */
@Feature("V7")
class FilesOnDiskTest {
  private static final String DURABLE = "durable";

  /** A program that uses a disk. */
  private interface OnDisk {
    void run(Disk disk, Path root) throws Exception;
  }

  /** Runs a program on a disk that loses all that is not forced, for a few seeds. */
  private static void simulate(OnDisk program) {
    Simulation.explore(
            SimulationOptions.seeds(5),
            sim -> {
              Disk disk = sim.disk("d").lostChanges(1).tornWrites(0);
              program.run(disk, disk.root());
            })
        .check();
  }

  private static void force(Path path) throws IOException {
    try (FileChannel channel = FileChannel.open(path, READ)) {
      channel.force(true);
    }
  }

  /** Writes a file that survives. */
  private static Path durable(Path file) throws IOException {
    Files.writeString(file, DURABLE);
    force(file);
    force(file.getParent());
    return file;
  }

  private static ByteBuffer bytes(String text) {
    return ByteBuffer.wrap(text.getBytes(UTF_8));
  }

  /** A way to change a file, and what is in a file with "durable" then. */
  private record Way(String expected, Change change) {
    interface Change {
      void apply(Path file) throws Exception;
    }
  }

  private static Map<String, Way> ways() {
    Map<String, Way> ways = new TreeMap<>();
    ways.put("FileChannel.write", new Way("DURable", channel(c -> c.write(bytes("DUR")))));
    ways.put("FileChannel.write at", new Way("durABLE", channel(c -> c.write(bytes("ABLE"), 3))));
    ways.put(
        "FileChannel.write behind the end",
        new Way("durable\0\0x", channel(c -> c.write(bytes("x"), 9))));
    ways.put(
        "FileChannel.write gathering",
        new Way(
            "du12345e",
            channel(
                c ->
                    c.position(2)
                        .write(new ByteBuffer[] {bytes("12"), bytes("34"), bytes("5e")}))));
    ways.put("FileChannel.truncate", new Way("dur", channel(c -> c.truncate(3))));
    ways.put(
        "FileChannel.transferFrom",
        new Way("dur1234", channel(c -> c.transferFrom(Channels.newChannel(in("1234")), 3, 4))));
    ways.put("FileChannel.transferFrom a file", new Way("dDURABLE", file -> transfer(file, true)));
    ways.put("FileChannel.transferTo a file", new Way("DURABLE", file -> transfer(file, false)));
    ways.put("Files.writeString", new Way("new", file -> Files.writeString(file, "new")));
    ways.put(
        "Files.write, append",
        new Way("durable, more", file -> Files.write(file, ", more".getBytes(UTF_8), APPEND)));
    ways.put(
        "Files.newOutputStream",
        new Way(
            "stream",
            file -> {
              try (var out = Files.newOutputStream(file)) {
                out.write("str".getBytes(UTF_8));
                out.write("eam".getBytes(UTF_8));
              }
            }));
    ways.put(
        "Files.newByteChannel",
        new Way(
            "duRABle",
            file -> {
              try (SeekableByteChannel channel = Files.newByteChannel(file, WRITE, READ)) {
                channel.position(2).write(bytes("RAB"));
              }
            }));
    ways.put(
        "Files.copy",
        new Way(
            "copied",
            file -> {
              Path source = Files.writeString(file.resolveSibling("source"), "copied");
              // A copy onto a file deletes it first: copy the content only.
              try (var out = Files.newOutputStream(file)) {
                Files.copy(source, out);
              }
            }));
    ways.put("FileOutputStream", new Way("out", out(false, "out")));
    ways.put("FileOutputStream, append", new Way("durableout", out(true, "out")));
    ways.put(
        "FileOutputStream, byte by byte",
        new Way(
            "ab",
            file -> {
              try (FileOutputStream out = new FileOutputStream(file.toFile())) {
                out.write('a');
                out.write('b');
              }
            }));
    ways.put(
        "FileOutputStream.getChannel",
        new Way(
            "durab--!",
            file -> {
              try (FileOutputStream out = new FileOutputStream(file.toFile(), true)) {
                out.getChannel().truncate(5);
                out.getChannel().write(bytes("--"));
                out.write('!');
              }
            }));
    ways.put(
        "FileWriter",
        new Way(
            "writer",
            file -> {
              try (FileWriter writer = new FileWriter(file.toFile(), UTF_8)) {
                writer.write("writer");
              }
            }));
    ways.put(
        "RandomAccessFile",
        new Way(
            "dABrabC",
            random(
                f -> {
                  f.seek(1);
                  f.write("AB".getBytes(UTF_8));
                  f.write(new byte[] {'r'}, 0, 1);
                  f.seek(6);
                  f.write('C');
                  f.seek(4);
                  assertThat(f.readByte()).isEqualTo((byte) 'b');
                  f.seek(4);
                  f.writeBytes("a");
                  f.writeByte('b');
                })));
    ways.put("RandomAccessFile.setLength", new Way("du", random(f -> f.setLength(2))));
    ways.put(
        "RandomAccessFile.setLength, longer", new Way("durable\0", random(f -> f.setLength(8))));
    return ways;
  }

  private static java.io.InputStream in(String text) {
    return new java.io.ByteArrayInputStream(text.getBytes(UTF_8));
  }

  private interface Use<T> {
    void apply(T file) throws IOException;
  }

  private static Way.Change channel(Use<FileChannel> use) {
    return file -> {
      try (FileChannel channel = FileChannel.open(file, WRITE)) {
        use.apply(channel);
      }
    };
  }

  private static Way.Change random(Use<RandomAccessFile> use) {
    return file -> {
      try (RandomAccessFile random = new RandomAccessFile(file.toFile(), "rw")) {
        use.apply(random);
      }
    };
  }

  private static Way.Change out(boolean append, String text) {
    return file -> {
      try (FileOutputStream out = new FileOutputStream(file.toFile(), append)) {
        out.write(text.getBytes(UTF_8));
      }
    };
  }

  private static void transfer(Path file, boolean from) throws IOException {
    Path other = Files.writeString(file.resolveSibling("other"), "DURABLE");
    try (FileChannel source = FileChannel.open(other, READ);
        FileChannel target = FileChannel.open(file, WRITE)) {
      if (from) {
        assertThat(target.transferFrom(source, 1, 7)).isEqualTo(7);
      } else {
        assertThat(source.transferTo(0, 7, target)).isEqualTo(7);
      }
    }
  }

  @TestFactory
  Stream<DynamicTest> aChangeIsLost() {
    return ways().entrySet().stream()
        .map(
            entry ->
                DynamicTest.dynamicTest(
                    entry.getKey(),
                    () ->
                        simulate(
                            (disk, root) -> {
                              Path file = durable(root.resolve("f"));
                              entry.getValue().change.apply(file);
                              assertThat(file).hasContent(entry.getValue().expected);
                              disk.crash();
                              assertThat(file).hasContent(DURABLE);
                              assertThat(disk.faults().values()).anyMatch(count -> count > 0);
                            })));
  }

  @TestFactory
  Stream<DynamicTest> aForcedChangeSurvives() {
    return ways().entrySet().stream()
        .map(
            entry ->
                DynamicTest.dynamicTest(
                    entry.getKey(),
                    () ->
                        simulate(
                            (disk, root) -> {
                              Path file = durable(root.resolve("f"));
                              entry.getValue().change.apply(file);
                              force(file);
                              disk.crash();
                              assertThat(file).hasContent(entry.getValue().expected);
                            })));
  }

  @Test
  void everyWayToForceWorks() {
    simulate(
        (disk, root) -> {
          Path file = durable(root.resolve("f"));
          try (FileOutputStream out = new FileOutputStream(file.toFile())) {
            out.write("by sync".getBytes(UTF_8));
            out.getFD().sync();
          }
          disk.crash();
          assertThat(file).hasContent("by sync");
          try (RandomAccessFile random = new RandomAccessFile(file.toFile(), "rwd")) {
            random.write("BY".getBytes(UTF_8));
          }
          disk.crash();
          assertThat(file).hasContent("BY sync");
          try (FileChannel channel = FileChannel.open(file, WRITE, DSYNC)) {
            channel.write(bytes("by DSYNC"));
          }
          disk.crash();
          assertThat(file).hasContent("by DSYNC");
          try (FileChannel channel = FileChannel.open(file, WRITE)) {
            channel.write(bytes("By"));
            channel.force(false);
            channel.write(bytes(" lost"));
          }
          disk.crash();
          assertThat(file).hasContent("By DSYNC");
          try (FileInputStream in = new FileInputStream(file.toFile())) {
            Files.writeString(file, "of another descriptor");
            in.getFD().sync();
          }
          disk.crash();
          assertThat(file).hasContent("of another descriptor");
        });
  }

  /** Ways to change names; each begins with the durable files a and old, and a directory. */
  private static Map<String, Way> namings() {
    Map<String, Way> ways = new TreeMap<>();
    ways.put("Files.createFile", naming("a b dir old", f -> Files.createFile(f.resolve("b"))));
    ways.put(
        "File.createNewFile",
        naming("a b dir old", f -> assertThat(f.resolve("b").toFile().createNewFile()).isTrue()));
    ways.put(
        "FileOutputStream",
        naming("a b dir old", f -> new FileOutputStream(f.resolve("b").toFile()).close()));
    ways.put(
        "RandomAccessFile",
        naming("a b dir old", f -> new RandomAccessFile(f.resolve("b").toFile(), "rw").close()));
    ways.put(
        "FileChannel.open",
        naming("a b dir old", f -> FileChannel.open(f.resolve("b"), CREATE, WRITE).close()));
    ways.put(
        "Files.createDirectories",
        naming("a b dir old", f -> Files.createDirectories(f.resolve("b/c/d"))));
    ways.put(
        "File.mkdir",
        naming("a b dir old", f -> assertThat(f.resolve("b").toFile().mkdir()).isTrue()));
    ways.put("Files.delete", naming("dir old", f -> Files.delete(f.resolve("a"))));
    ways.put(
        "File.delete",
        naming("dir old", f -> assertThat(f.resolve("a").toFile().delete()).isTrue()));
    ways.put("Files.delete of a directory", naming("a old", f -> Files.delete(f.resolve("dir"))));
    ways.put("Files.move", naming("b dir old", f -> Files.move(f.resolve("a"), f.resolve("b"))));
    ways.put(
        "Files.move, ATOMIC_MOVE",
        naming(
            "dir old",
            f -> Files.move(f.resolve("a"), f.resolve("old"), StandardCopyOption.ATOMIC_MOVE)));
    ways.put(
        "Files.move, REPLACE_EXISTING",
        naming(
            "dir old",
            f ->
                Files.move(f.resolve("a"), f.resolve("old"), StandardCopyOption.REPLACE_EXISTING)));
    ways.put(
        "File.renameTo",
        naming(
            "b dir old",
            f -> assertThat(f.resolve("a").toFile().renameTo(f.resolve("b").toFile())).isTrue()));
    ways.put(
        "Files.move of a directory",
        naming("a d old", f -> Files.move(f.resolve("dir"), f.resolve("d"))));
    ways.put("Files.copy", naming("a b dir old", f -> Files.copy(f.resolve("a"), f.resolve("b"))));
    ways.put(
        "Files.createLink",
        naming("a b dir old", f -> Files.createLink(f.resolve("b"), f.resolve("a"))));
    ways.put(
        "Files.createSymbolicLink",
        naming("a b dir old", f -> Files.createSymbolicLink(f.resolve("b"), Path.of("a"))));
    ways.put(
        "Files.createTempFile",
        naming("a dir old t", f -> Files.move(Files.createTempFile(f, "t", ""), f.resolve("t"))));
    return ways;
  }

  private static Way naming(String expected, Way.Change change) {
    return new Way(expected, change);
  }

  private static String names(Path directory) throws IOException {
    List<String> names = new ArrayList<>();
    try (var stream = Files.newDirectoryStream(directory)) {
      stream.forEach(path -> names.add(path.getFileName().toString()));
    }
    assertThat(new File(directory.toString()).list()).containsExactlyElementsOf(names);
    return String.join(" ", names);
  }

  private static Path home(Path root) throws IOException {
    Path home = Files.createDirectory(root.resolve("home"));
    force(root);
    durable(home.resolve("a"));
    durable(home.resolve("old"));
    Files.createDirectory(home.resolve("dir"));
    force(home);
    return home;
  }

  @TestFactory
  Stream<DynamicTest> aNameIsLostUnlessItsDirectoryWasForced() {
    return namings().entrySet().stream()
        .map(
            entry ->
                DynamicTest.dynamicTest(
                    entry.getKey(),
                    () ->
                        simulate(
                            (disk, root) -> {
                              Path home = home(root);
                              entry.getValue().change.apply(home);
                              assertThat(names(home)).isEqualTo(entry.getValue().expected);
                              disk.crash();
                              assertThat(names(home)).isEqualTo("a dir old");
                              entry.getValue().change.apply(home);
                              force(home);
                              disk.crash();
                              assertThat(names(home)).isEqualTo(entry.getValue().expected);
                            })));
  }

  @Test
  void aDeletedFileComesBackWithItsContent() {
    simulate(
        (disk, root) -> {
          Path file = durable(root.resolve("f"));
          Files.writeString(file, "not forced");
          Files.delete(file);
          disk.crash();
          assertThat(file).hasContent(DURABLE);
        });
  }

  @Test
  void forcingAFileDoesNotForceItsName() {
    simulate(
        (disk, root) -> {
          Path file = Files.writeString(root.resolve("f"), "x");
          force(file);
          disk.crash();
          assertThat(file).doesNotExist();
          assertThat(disk.faults()).containsEntry(Fault.LOST_CREATION, 1L);

          disk.names(Disk.Names.JOURNALED);
          Files.writeString(file, "x");
          Files.writeString(root.resolve("g"), "not forced");
          force(file);
          Files.writeString(root.resolve("h"), "y");
          disk.crash();
          assertThat(file).hasContent("x");
          assertThat(root.resolve("g")).isEmptyFile();
          assertThat(root.resolve("h")).doesNotExist();
        });
  }

  @Test
  void aSubdirectoryIsLostWithWhatIsInIt() {
    simulate(
        (disk, root) -> {
          Path directory = Files.createDirectory(root.resolve("dir"));
          durable(directory.resolve("f"));
          disk.crash();
          assertThat(directory).doesNotExist();
          Files.createDirectory(directory);
          durable(directory.resolve("f"));
          force(root);
          disk.crash();
          assertThat(directory.resolve("f")).hasContent(DURABLE);
        });
  }

  @Test
  void aRenameBetweenDirectoriesIsWhole() {
    simulate(
        (disk, root) -> {
          Path one = Files.createDirectory(root.resolve("one"));
          Path two = Files.createDirectory(root.resolve("two"));
          force(root);
          durable(one.resolve("f"));
          durable(two.resolve("f"));
          Files.writeString(two.resolve("f"), "replaced");
          Files.move(one.resolve("f"), two.resolve("f"), StandardCopyOption.ATOMIC_MOVE);
          force(one);
          disk.crash();
          assertThat(one.resolve("f")).doesNotExist();
          assertThat(two.resolve("f")).hasContent(DURABLE);
        });
  }

  @Test
  void writesThroughASymbolicLinkReachItsFile() {
    simulate(
        (disk, root) -> {
          Path version = Files.createDirectory(root.resolve("v1"));
          Files.createSymbolicLink(root.resolve("current"), Path.of("v1"));
          force(root);
          durable(version.resolve("f"));
          Files.writeString(root.resolve("current/f"), "through");
          assertThat(version.resolve("f")).hasContent("through");
          disk.crash();
          assertThat(root.resolve("current/f")).hasContent(DURABLE);
          Files.writeString(root.resolve("current/f"), "through");
          force(version.resolve("f"));
          disk.crash();
          assertThat(root.resolve("current/f")).hasContent("through");
        });
  }

  @Test
  void filesThatWereOpenAtACrashCannotBeChanged() {
    simulate(
        (disk, root) -> {
          Path file = durable(root.resolve("f"));
          try (FileChannel channel = FileChannel.open(file, WRITE)) {
            FileLock lock = channel.lock();
            assertThat(lock.isValid()).isTrue();
            try (FileChannel second = FileChannel.open(file, WRITE)) {
              assertThatThrownBy(second::tryLock).isInstanceOf(OverlappingFileLockException.class);
            }
            disk.crash();
            assertThatThrownBy(() -> channel.write(bytes("x")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("has crashed since the file was opened");
            assertThatThrownBy(() -> channel.force(true)).isInstanceOf(IOException.class);
            try (FileChannel second = FileChannel.open(file, WRITE)) {
              assertThat(second.tryLock()).isNotNull(); // the crash has released the lock
            }
          }
          assertThat(file).hasContent(DURABLE);
        });
  }

  /** The JDK knows a locked file by its inode, and a file of a later run often has the same one. */
  @Test
  void aLockThatARunHasLeftIsGoneInTheNext() {
    List<FileLock> left = new ArrayList<>(); // else the garbage collector may clear them
    simulate(
        (disk, root) -> {
          for (int i = 0; i < 50; i++) {
            FileChannel channel = FileChannel.open(root.resolve("f" + i), CREATE, WRITE);
            FileLock lock = i % 2 == 0 ? channel.lock() : channel.tryLock();
            assertThat(lock).isNotNull();
            left.add(lock);
          }
        });
    assertThat(left).hasSizeGreaterThan(300).noneMatch(FileLock::isValid);
  }

  @Test
  void aFullDiskRefusesWrites() {
    simulate(
        (disk, root) -> {
          Path file = durable(root.resolve("f"));
          disk.full(true);
          assertThatThrownBy(() -> Files.writeString(file, "more", APPEND))
              .isInstanceOf(IOException.class)
              .hasMessageContaining("No space left on device");
          assertThatThrownBy(() -> out(true, "more").apply(file)).isInstanceOf(IOException.class);
          assertThatThrownBy(() -> random(f -> f.setLength(100)).apply(file))
              .isInstanceOf(IOException.class);
          disk.full(false);
          Files.writeString(file, "!", APPEND);
          assertThat(file).hasContent(DURABLE + "!");
          assertThat(disk.faults()).containsEntry(Fault.FULL_DISK, 3L);
        });
  }

  @Test
  void timesOfFilesAreVirtual() {
    simulate(
        (disk, root) -> {
          disk.latency(Duration.ZERO, Duration.ZERO);
          Path file = durable(root.resolve("f"));
          Thread.sleep(Duration.ofDays(2));
          Files.writeString(file, "later");
          assertThat(Files.getLastModifiedTime(file))
              .isEqualTo(FileTime.from(Instant.parse("2026-01-03T00:00:00Z")));
          Thread.sleep(Duration.ofDays(1));
          Path copy = root.resolve("copy");
          Files.copy(file, copy, StandardCopyOption.COPY_ATTRIBUTES);
          assertThat(Files.getLastModifiedTime(copy)).isEqualTo(Files.getLastModifiedTime(file));
          assertThat(Files.getLastModifiedTime(root))
              .isEqualTo(FileTime.from(Instant.parse("2026-01-04T00:00:00Z")));
        });
  }

  @Test
  void aWriteTakesTimeInWhichOthersRun() {
    simulate(
        (disk, root) -> {
          disk.latency(Duration.ofMillis(5), Duration.ofMillis(5));
          long before = System.nanoTime();
          Thread.currentThread().interrupt();
          try (FileOutputStream out = new FileOutputStream(root.resolve("f").toFile())) {
            out.write('x');
            out.getFD().sync(); // waits before and after
          }
          assertThat(System.nanoTime() - before).isEqualTo(20_000_000);
          assertThat(Thread.interrupted()).isTrue(); // files do not care about interrupts
        });
  }

  @Test
  void aRunEndsThoughAFiberIsInTheMiddleOfAWrite() {
    simulate(
        (disk, root) -> {
          disk.latency(Duration.ofSeconds(1), Duration.ofSeconds(1));
          Path file = durable(root.resolve("f"));
          Thread writer =
              Thread.startVirtualThread(
                  () -> {
                    try {
                      channel(c -> c.write(bytes("x"))).apply(file);
                    } catch (Exception e) {
                      throw new AssertionError(e);
                    }
                  });
          Thread.sleep(1_500); // the file is open, and the write waits
          assertThat(writer.isAlive()).isTrue();
        });
  }

  @Test
  void anInterruptClosesAChannelAsEver() {
    simulate(
        (disk, root) -> {
          Path file = durable(root.resolve("f"));
          disk.latency(Duration.ofSeconds(1), Duration.ofSeconds(1));
          try (FileChannel channel = FileChannel.open(file, WRITE)) {
            Thread main = Thread.currentThread();
            Thread.startVirtualThread(main::interrupt);
            assertThatThrownBy(() -> channel.write(bytes("x")))
                .isInstanceOf(ClosedByInterruptException.class);
            assertThat(Thread.interrupted()).isTrue();
          }
        });
  }

  @Test
  void mappedFilesCanBeRead() {
    simulate(
        (disk, root) -> {
          Path file = durable(root.resolve("f"));
          try (FileChannel channel = FileChannel.open(file, READ)) {
            assertThat(channel.map(FileChannel.MapMode.READ_ONLY, 0, 7).get(0))
                .isEqualTo((byte) 'd');
          }
        });
  }

  @Test
  void eachRunBeginsWithAnEmptyDiskAtTheSamePath() {
    List<Path> roots = new ArrayList<>();
    simulate(
        (disk, root) -> {
          assertThat(names(root)).isEmpty();
          Files.writeString(root.resolve("left"), "x");
          roots.add(root);
        });
    assertThat(roots).hasSizeGreaterThan(5);
    assertThat(roots.stream().distinct()).hasSize(1);
    assertThat(roots.getFirst()).doesNotExist();
  }
}
