package dev.weft.im;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.concurrent.atomic.AtomicLong;
import org.h2.store.fs.FileBaseDefault;
import org.h2.store.fs.FilePath;
import org.h2.store.fs.FilePathWrapper;

/**
 * Files of H2 on a disk that is as large as a test says: {@code jdbc:h2:quota:/folder/name}. A
 * write behind the end of the disk fails as it does on a real one.
 */
public final class QuotaFiles extends FilePathWrapper { // public: H2 makes more of them
  /** How long a file may become. */
  static final AtomicLong QUOTA = new AtomicLong(Long.MAX_VALUE);

  /** How long each write takes, in milliseconds. */
  static final AtomicLong PAUSE = new AtomicLong();

  static void register() {
    FilePath.register(new QuotaFiles());
  }

  @Override
  public String getScheme() {
    return "quota";
  }

  @Override
  public FileChannel open(String mode) throws IOException {
    return new QuotaChannel(super.open(mode));
  }

  private static final class QuotaChannel extends FileBaseDefault {
    private final FileChannel file;

    QuotaChannel(FileChannel file) {
      this.file = file;
    }

    @Override
    public long size() throws IOException {
      return file.size();
    }

    @Override
    public synchronized int read(ByteBuffer target, long position) throws IOException {
      return file.read(target, position);
    }

    @Override
    public synchronized int write(ByteBuffer source, long position) throws IOException {
      pause();
      if (position + source.remaining() > Math.max(QUOTA.get(), file.size())) {
        throw new IOException("No space left on device");
      }
      return file.write(source, position);
    }

    private static void pause() {
      try {
        Thread.sleep(PAUSE.get());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    protected void implTruncate(long size) throws IOException {
      file.truncate(size);
    }

    @Override
    public void force(boolean metaData) throws IOException {
      file.force(metaData);
    }

    @Override
    public java.nio.channels.FileLock tryLock(long position, long size, boolean shared)
        throws IOException {
      return file.tryLock(position, size, shared);
    }

    @Override
    protected void implCloseChannel() throws IOException {
      file.close();
    }
  }
}
