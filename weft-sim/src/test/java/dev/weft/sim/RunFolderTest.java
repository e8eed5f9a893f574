package dev.weft.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weft.testkit.Command;
import dev.weft.testkit.Feature;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
@Feature("V7")
class RunFolderTest {
  /** Two JVMs in one folder would delete each other's files. */
  @Test
  void noOtherJvmTakesTheFolderAlsoAfterAGarbageCollection() throws Exception {
    Path folder = RunFolder.create().path;
    collectGarbage();
    Command.Result another = Command.java(Taker.class.getName()).run();
    assertThat(another.exitStatus()).as(another.stderr()).isZero();
    assertThat(another.stdout().strip()).isNotEmpty().isNotEqualTo(folder.toString());
  }

  private static void collectGarbage() throws InterruptedException {
    WeakReference<Object> gone = new WeakReference<>(new Object());
    while (gone.get() != null) {
      System.gc();
    }
    for (int i = 0; i < 20; i++) { // the cleaner thread closes what it finds
      System.gc();
      Thread.sleep(5);
    }
  }

  static final class Taker {
    public static void main(String[] args) throws IOException {
      RunFolder folder = RunFolder.create();
      System.out.println(folder.path);
      folder.delete();
    }
  }
}
