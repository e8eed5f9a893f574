package dev.weft.im;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.weft.testkit.Command;
import dev.weft.testkit.Feature;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The look at the free space of the disk where an embedded database is. */
@Feature("A4")
class DiskSpaceTest {
  private static final long MIB = 1 << 20;

  @TempDir Path folder;

  @Test
  void aLittleIsLeftFreeAndOfASmallDiskAPart() {
    assertThat(DiskSpace.isShort(16 * MIB, 100_000 * MIB)).isFalse();
    assertThat(DiskSpace.isShort(16 * MIB - 1, 100_000 * MIB)).isTrue();
    assertThat(DiskSpace.isShort(2 * MIB, 32 * MIB)).isFalse();
    assertThat(DiskSpace.isShort(2 * MIB - 1, 32 * MIB)).isTrue();
    assertThat(DiskSpace.isShort(0, 32 * MIB)).isTrue();
  }

  /** The numbers are those of the folder's disk, as the system tells them. */
  @Test
  void theDiskOfTheFileIsLookedAt() throws Exception {
    DiskSpace space = DiskSpace.of("jdbc:h2:" + folder.resolve("chat") + ";A=B");
    assertThat(space.folder()).isEqualTo(folder);
    assertThat(DiskSpace.of("jdbc:h2:file:" + folder.resolve("chat")).folder()).isEqualTo(folder);
    assertThat(DiskSpace.of("jdbc:h2:./chat").folder()).isEqualTo(Path.of("").toAbsolutePath());
    assertThat(DiskSpace.unlimited().isShort()).isFalse();
    assertThat(DiskSpace.of("jdbc:h2:~/chat").folder())
        .isEqualTo(Path.of(System.getProperty("user.home")));
    long usable = Files.getFileStore(folder).getUsableSpace();
    long total = Files.getFileStore(folder).getTotalSpace();
    assertThat(space.isShort()).isEqualTo(DiskSpace.isShort(usable, total));
  }

  /**
   * A server on a small disk of its own, which a file fills and leaves. Where a process may not
   * mount a disk the test is skipped; {@link ImDiskFullTest} covers the rest of the way.
   */
  @Test
  void aRealDiskThatIsFullForAWhile() throws Exception {
    String mount = "mount -t tmpfs -o size=48m tmpfs \"$0\" && exec \"$@\"";
    List<String> inside = List.of("unshare", "-rm", "sh", "-c", mount, folder.toString());
    assumeTrue(canMount(inside), "this system has no unshare, or allows no mounts");
    List<Long> stored = new ArrayList<>();
    try (ServerNode node = ServerNode.startInside(inside, "jdbc:h2:" + folder.resolve("chat"))) {
      Path filler = Path.of("/proc/" + node.pid() + "/root" + folder, "filler");
      try (ImClient ann = ImClient.connect(node.address())) {
        ann.ask("REGISTER ann " + ImClient.PASSWORD);
        ann.ask("JOIN tea");
        stored.add(ann.post("SAY tea before"));
        fill(filler);
        String answer = ann.ask("SAY tea maybe");
        while (answer.startsWith("OK SAY ")) { // the look is some milliseconds old at most
          stored.add(Long.parseLong(answer.substring("OK SAY ".length())));
          answer = ann.ask("SAY tea maybe");
        }
        assertThat(answer).startsWith("ERR internal the disk of the server is full");
        Files.delete(filler);
        while (!answer.startsWith("OK SAY ")) {
          answer = ann.ask("SAY tea after");
        }
        stored.add(Long.parseLong(answer.substring("OK SAY ".length())));
        assertThat(ann.history("HISTORY tea 999999999 100"))
            .extracting(ImClient::idOf)
            .isEqualTo(stored);
      }
    }
  }

  private static boolean canMount(List<String> inside) throws Exception {
    List<String> words = new ArrayList<>(inside);
    words.add("true");
    try {
      return Command.of(words.toArray(String[]::new)).run().exitStatus() == 0;
    } catch (IOException e) {
      return false; // there is no such program
    }
  }

  /** Writes until there is no room for a byte more. */
  private static void fill(Path file) throws IOException {
    byte[] block = new byte[4096];
    try (OutputStream out = Files.newOutputStream(file)) {
      while (true) {
        out.write(block);
      }
    } catch (IOException full) {
      assertThat(Files.size(file)).isPositive();
    }
  }
}
