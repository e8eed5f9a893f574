package dev.weft.sim.agent;

import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_String;
import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;

import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.Label;
import java.lang.classfile.MethodModel;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.ReturnInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * What changes in the classes of the JDK through which every change of a file goes. These are the
 * narrowest places that are Java code: the native methods below them cannot be rewritten.
 *
 * <pre>
 *   FileOutputStream, RandomAccessFile          open, write, setLength
 *   FileChannelImpl ──► UnixFileDispatcherImpl  write, pwrite, writev, truncate, force, map
 *   FileDescriptor                              sync
 *   Files ──► UnixNativeDispatcher              open, rename, unlink, mkdir, rmdir, link, symlink
 *   File  ──► java.io.UnixFileSystem            create, delete, rename, mkdir
 * </pre>
 *
 * <p>A patch calls {@code RewrittenFiles} when a method begins (a name that ends in -ing) and where
 * it returns, or before and after a call of a native method. An exception skips the second call:
 * nothing has changed then. A fiber waits for the disk at the beginning of the public methods only:
 * inside a channel's begin and end a thread that interrupts it would wait for it.
 *
 * <p>The file is long because it is a table: each patch stands beside the method that it changes.
 */
final class FilePatches {
  private static final ClassDesc FILES = ClassDesc.of("dev.weft.sim.boot.RewrittenFiles");
  private static final ClassDesc DESCRIPTOR = ClassDesc.of("java.io.FileDescriptor");
  private static final ClassDesc LOCK = ClassDesc.of("java.nio.channels.FileLock");
  private static final ClassDesc NATIVES = ClassDesc.of("sun.nio.fs.UnixNativeDispatcher");
  private static final ClassDesc CONSTANTS = ClassDesc.of("sun.nio.fs.UnixConstants");
  private static final ClassDesc FLAGS = ClassDesc.of("sun.nio.fs.UnixChannelFactory$Flags");
  private static final ClassDesc COPY_FLAGS = ClassDesc.of("sun.nio.fs.UnixFileSystem$Flags");
  private static final ClassDesc BYTES = ClassDesc.ofDescriptor("[B");
  private static final ClassDesc STRINGS = ClassDesc.ofDescriptor("[Ljava/lang/String;");

  /** {@code sun.nio.ch.IOStatus.UNSUPPORTED_CASE}: the caller does it by reads and writes. */
  private static final long UNSUPPORTED_CASE = -6;

  private static final int MODE_SYNC = 4 | 8; // O_SYNC, O_DSYNC of RandomAccessFile

  /** The classes that are rewritten. */
  static final List<String> CLASSES =
      List.of(
          "java.io.FileDescriptor",
          "java.io.FileInputStream",
          "java.io.FileOutputStream",
          "java.io.RandomAccessFile",
          "java.io.UnixFileSystem",
          "sun.nio.ch.FileChannelImpl",
          "sun.nio.ch.FileDispatcherImpl",
          "sun.nio.ch.UnixFileDispatcherImpl",
          "sun.nio.fs.UnixChannelFactory",
          "sun.nio.fs.UnixDirectoryStream",
          "sun.nio.fs.UnixFileSystem",
          "sun.nio.fs.UnixNativeDispatcher");

  private static final Set<String> NAMES =
      Set.copyOf(CLASSES.stream().map(name -> name.replace('.', '/')).toList());

  /** What is emitted at the beginning of a method, by class, method and descriptor. */
  private static final Map<String, Consumer<CodeBuilder>> BEGINNINGS =
      Map.ofEntries(
          Map.entry(
              "java/io/FileInputStream.open(Ljava/lang/String;)V",
              code -> opening(code.aload(1).iconst_0())),
          Map.entry(
              "java/io/FileOutputStream.open(Ljava/lang/String;Z)V",
              code -> opening(code.aload(1).iload(2).iconst_1().ixor())),
          Map.entry(
              "java/io/RandomAccessFile.open(Ljava/lang/String;I)V",
              code -> opening(code.aload(1).iconst_0())),
          Map.entry(
              "sun/nio/fs/UnixNativeDispatcher.open(Lsun/nio/fs/UnixPath;II)I",
              code ->
                  opening(code.aload(0).iload(1).getstatic(CONSTANTS, "O_TRUNC", CD_int).iand())),
          Map.entry("java/io/FileInputStream.read()I", FilePatches::reading),
          Map.entry("java/io/FileInputStream.read([B)I", FilePatches::reading),
          Map.entry("java/io/FileInputStream.read([BII)I", FilePatches::reading),
          Map.entry("java/io/FileOutputStream.write(I)V", code -> awaiting(code, FilePatches::out)),
          Map.entry(
              "java/io/FileOutputStream.write([B)V", code -> awaiting(code, FilePatches::out)),
          Map.entry(
              "java/io/FileOutputStream.write([BII)V", code -> awaiting(code, FilePatches::out)),
          Map.entry(
              "java/io/RandomAccessFile.implWrite(I)V",
              code -> awaiting(code, FilePatches::random)),
          Map.entry(
              "java/io/RandomAccessFile.implWriteBytes([BII)V",
              code -> awaiting(code, FilePatches::random)),
          Map.entry(
              "java/io/RandomAccessFile.setLength(J)V",
              code -> awaiting(code, FilePatches::random)),
          Map.entry(
              "sun/nio/ch/FileChannelImpl.write(Ljava/nio/ByteBuffer;)I",
              code -> awaiting(code, FilePatches::channel)),
          Map.entry(
              "sun/nio/ch/FileChannelImpl.write(Ljava/nio/ByteBuffer;J)I",
              code -> awaiting(code, FilePatches::channel)),
          Map.entry(
              "sun/nio/ch/FileChannelImpl.write([Ljava/nio/ByteBuffer;II)J",
              code -> awaiting(code, FilePatches::channel)),
          Map.entry(
              "sun/nio/ch/FileChannelImpl.truncate(J)Ljava/nio/channels/FileChannel;",
              code -> awaiting(code, FilePatches::channel)),
          Map.entry(
              "sun/nio/ch/FileChannelImpl.force(Z)V", code -> awaiting(code, FilePatches::channel)),
          Map.entry(
              "java/io/FileDescriptor.sync()V",
              code -> {
                Label go = code.newLabel();
                awaiting(code, file -> file.aload(0));
                forced(code, 0).ifeq(go);
                awaiting(code, file -> file.aload(0));
                code.return_().labelBinding(go);
              }),
          Map.entry(
              "sun/nio/ch/UnixFileDispatcherImpl.force(Ljava/io/FileDescriptor;Z)I",
              code -> {
                Label go = code.newLabel();
                forced(code, 1).ifeq(go).iconst_0().ireturn().labelBinding(go);
              }),
          Map.entry(
              "sun/nio/ch/UnixFileDispatcherImpl.map(Ljava/io/FileDescriptor;IJJZ)J",
              code -> call(code.aload(1).iload(2), "mapping", DESCRIPTOR, CD_int)),
          Map.entry(
              "sun/nio/ch/FileDispatcherImpl.transferTo(Ljava/io/FileDescriptor;JJ"
                  + "Ljava/io/FileDescriptor;Z)J",
              code -> noTransfer(code, 6)),
          Map.entry(
              "sun/nio/ch/FileDispatcherImpl.transferFrom(Ljava/io/FileDescriptor;"
                  + "Ljava/io/FileDescriptor;JJZ)J",
              code -> noTransfer(code, 2)),
          Map.entry(
              "sun/nio/fs/UnixChannelFactory.newAsynchronousFileChannel(Lsun/nio/fs/UnixPath;"
                  + "Ljava/util/Set;ILsun/nio/ch/ThreadPool;)"
                  + "Ljava/nio/channels/AsynchronousFileChannel;",
              code -> refuse(code, "an AsynchronousFileChannel")),
          Map.entry(
              "sun/nio/fs/UnixNativeDispatcher.openat(I[BII)I",
              code -> refuse(code, "a file opened by a SecureDirectoryStream")),
          Map.entry(
              "sun/nio/fs/UnixNativeDispatcher.unlinkat(I[BI)V",
              code -> refuse(code, "a deletion by a SecureDirectoryStream")),
          Map.entry(
              "sun/nio/fs/UnixNativeDispatcher.renameat(I[BI[B)V",
              code -> refuse(code, "a move by a SecureDirectoryStream")),
          Map.entry(
              "sun/nio/fs/UnixNativeDispatcher.unlink(Lsun/nio/fs/UnixPath;)V",
              code -> naming(code, 0)),
          Map.entry(
              "sun/nio/fs/UnixNativeDispatcher.rmdir(Lsun/nio/fs/UnixPath;)V",
              code -> naming(code, 0)),
          Map.entry(
              "sun/nio/fs/UnixNativeDispatcher.mkdir(Lsun/nio/fs/UnixPath;I)V",
              code -> naming(code, 0)),
          Map.entry(
              "sun/nio/fs/UnixNativeDispatcher.rename(Lsun/nio/fs/UnixPath;Lsun/nio/fs/UnixPath;)V",
              code -> naming(code, 0)),
          Map.entry(
              "sun/nio/fs/UnixNativeDispatcher.link(Lsun/nio/fs/UnixPath;Lsun/nio/fs/UnixPath;)V",
              code -> naming(code, 1)),
          Map.entry(
              "sun/nio/fs/UnixNativeDispatcher.symlink([BLsun/nio/fs/UnixPath;)V",
              code -> naming(code, 1)),
          Map.entry(
              "java/io/UnixFileSystem.createFileExclusively(Ljava/lang/String;)Z",
              code -> naming(code, 1)),
          Map.entry("java/io/UnixFileSystem.delete(Ljava/io/File;)Z", code -> naming(code, 1)),
          Map.entry(
              "java/io/UnixFileSystem.createDirectory(Ljava/io/File;)Z", code -> naming(code, 1)),
          Map.entry(
              "java/io/UnixFileSystem.rename(Ljava/io/File;Ljava/io/File;)Z",
              code -> naming(code, 1)),
          Map.entry("sun/nio/fs/UnixNativeDispatcher.readdir(J)[B", FilePatches::readAhead));

  /** What is emitted before each return of a method. */
  private static final Map<String, Consumer<CodeBuilder>> ENDS =
      Map.ofEntries(
          Map.entry(
              "java/io/FileInputStream.open(Ljava/lang/String;)V",
              code -> opened(field(code, "java.io.FileInputStream").iconst_0().iconst_0())),
          Map.entry(
              "java/io/FileOutputStream.open(Ljava/lang/String;Z)V",
              code -> opened(field(code, "java.io.FileOutputStream").iload(2).iconst_0())),
          Map.entry(
              "java/io/RandomAccessFile.open(Ljava/lang/String;I)V",
              code ->
                  opened(
                      field(code, "java.io.RandomAccessFile")
                          .iconst_0()
                          .iload(2)
                          .loadConstant(MODE_SYNC)
                          .iand())),
          Map.entry(
              "sun/nio/ch/FileChannelImpl.force(Z)V", code -> awaiting(code, FilePatches::channel)),
          Map.entry(
              "sun/nio/ch/FileChannelImpl.lock(JJZ)Ljava/nio/channels/FileLock;",
              FilePatches::locked),
          Map.entry(
              "sun/nio/ch/FileChannelImpl.tryLock(JJZ)Ljava/nio/channels/FileLock;",
              FilePatches::locked),
          Map.entry(
              "sun/nio/fs/UnixNativeDispatcher.open(Lsun/nio/fs/UnixPath;II)I",
              code -> call(code, "openedPath")),
          Map.entry(
              "sun/nio/fs/UnixChannelFactory.open(ILsun/nio/fs/UnixPath;"
                  + "Lsun/nio/fs/UnixChannelFactory$Flags;I)Ljava/io/FileDescriptor;",
              code ->
                  opened(
                      code.dup()
                          .aload(2)
                          .getfield(FLAGS, "append", CD_boolean)
                          .aload(2)
                          .getfield(FLAGS, "sync", CD_boolean)
                          .aload(2)
                          .getfield(FLAGS, "dsync", CD_boolean)
                          .ior())),
          Map.entry(
              "sun/nio/fs/UnixNativeDispatcher.unlink(Lsun/nio/fs/UnixPath;)V",
              code -> named(code.iconst_1().aload(0), "removed")),
          Map.entry(
              "sun/nio/fs/UnixNativeDispatcher.rmdir(Lsun/nio/fs/UnixPath;)V",
              code -> named(code.iconst_1().aload(0), "removed")),
          Map.entry(
              "sun/nio/fs/UnixNativeDispatcher.mkdir(Lsun/nio/fs/UnixPath;I)V",
              code -> named(code.iconst_1().aload(0), "madeDirectory")),
          Map.entry(
              "sun/nio/fs/UnixNativeDispatcher.rename(Lsun/nio/fs/UnixPath;Lsun/nio/fs/UnixPath;)V",
              code -> renamed(code.iconst_1().aload(0).aload(1))),
          Map.entry(
              "sun/nio/fs/UnixNativeDispatcher.link(Lsun/nio/fs/UnixPath;Lsun/nio/fs/UnixPath;)V",
              code -> call(code.aload(0).aload(1), "linked", CD_Object, CD_Object)),
          Map.entry(
              "sun/nio/fs/UnixNativeDispatcher.symlink([BLsun/nio/fs/UnixPath;)V",
              code -> call(code.aload(1), "linkedSymbolically", CD_Object)),
          Map.entry(
              "java/io/UnixFileSystem.createFileExclusively(Ljava/lang/String;)Z",
              code -> named(code.dup().aload(1), "created")),
          Map.entry(
              "java/io/UnixFileSystem.delete(Ljava/io/File;)Z",
              code -> named(code.dup().aload(1), "removed")),
          Map.entry(
              "java/io/UnixFileSystem.createDirectory(Ljava/io/File;)Z",
              code -> named(code.dup().aload(1), "madeDirectory")),
          Map.entry(
              "java/io/UnixFileSystem.rename(Ljava/io/File;Ljava/io/File;)Z",
              code -> renamed(code.dup().aload(1).aload(2))),
          Map.entry(
              "java/io/UnixFileSystem.list(Ljava/io/File;)[Ljava/lang/String;",
              code -> code.invokestatic(FILES, "sorted", MethodTypeDesc.of(STRINGS, STRINGS))),
          Map.entry(
              "sun/nio/fs/UnixFileSystem.copyFile(Lsun/nio/fs/UnixPath;"
                  + "Lsun/nio/fs/UnixFileAttributes;Lsun/nio/fs/UnixPath;"
                  + "Lsun/nio/fs/UnixFileSystem$Flags;J)V",
              code ->
                  call(
                      code.aload(3)
                          .aload(4)
                          .getfield(COPY_FLAGS, "copyBasicAttributes", CD_boolean),
                      "copied",
                      CD_Object,
                      CD_boolean)));

  /**
   * A native method that changes a file, and what is emitted around its call; where the descriptor
   * is, and how long the write is, is known from the local variables of the calling method.
   */
  private record Around(Consumer<CodeBuilder> before, Consumer<CodeBuilder> after) {
    static Around write(Consumer<CodeBuilder> file, Consumer<CodeBuilder> length) {
      return new Around(
          code -> {
            file.accept(code);
            code.loadConstant(-1L);
            length.accept(code);
            writing(code);
          },
          code -> {
            length.accept(code);
            file.accept(code);
            wrote(code);
          });
    }

    static Around resize(Consumer<CodeBuilder> file, int size) {
      return new Around(
          code -> {
            file.accept(code);
            call(code.lload(size), "resizing", DESCRIPTOR, CD_long);
          },
          code -> {
            file.accept(code);
            call(code, "resized", DESCRIPTOR);
          });
    }
  }

  /** By the calling method's class and descriptor, and the native method. */
  private static final Map<String, Around> CALLS =
      Map.ofEntries(
          Map.entry(
              "java/io/FileOutputStream.write(I)V write(IZ)V",
              Around.write(FilePatches::out, CodeBuilder::lconst_1)),
          Map.entry(
              "java/io/FileOutputStream.traceWrite(IZ)V write(IZ)V",
              Around.write(FilePatches::out, CodeBuilder::lconst_1)),
          Map.entry(
              "java/io/FileOutputStream.write([B)V writeBytes([BIIZ)V",
              Around.write(FilePatches::out, code -> code.aload(1).arraylength().i2l())),
          Map.entry(
              "java/io/FileOutputStream.write([BII)V writeBytes([BIIZ)V",
              Around.write(FilePatches::out, code -> code.iload(3).i2l())),
          Map.entry(
              "java/io/FileOutputStream.traceWriteBytes([BIIZ)V writeBytes([BIIZ)V",
              Around.write(FilePatches::out, code -> code.iload(3).i2l())),
          Map.entry(
              "java/io/RandomAccessFile.implWrite(I)V write0(I)V",
              Around.write(FilePatches::random, CodeBuilder::lconst_1)),
          Map.entry(
              "java/io/RandomAccessFile.implWriteBytes([BII)V writeBytes0([BII)V",
              Around.write(FilePatches::random, code -> code.iload(3).i2l())),
          Map.entry(
              "java/io/RandomAccessFile.setLength(J)V setLength0(J)V",
              Around.resize(FilePatches::random, 1)),
          Map.entry(
              "sun/nio/ch/UnixFileDispatcherImpl.write(Ljava/io/FileDescriptor;JI)I"
                  + " write0(Ljava/io/FileDescriptor;JI)I",
              new Around(
                  code -> writing(code.aload(1).loadConstant(-1L).iload(4).i2l()),
                  code -> wrote(code.dup().i2l().aload(1)))),
          Map.entry(
              "sun/nio/ch/UnixFileDispatcherImpl.pwrite(Ljava/io/FileDescriptor;JIJ)I"
                  + " pwrite0(Ljava/io/FileDescriptor;JIJ)I",
              new Around(
                  code -> writing(code.aload(1).lload(5).iload(4).i2l()),
                  code -> wrote(code.dup().i2l().aload(1)))),
          Map.entry(
              "sun/nio/ch/UnixFileDispatcherImpl.writev(Ljava/io/FileDescriptor;JI)J"
                  + " writev0(Ljava/io/FileDescriptor;JI)J",
              new Around(
                  code -> writing(code.aload(1).loadConstant(-1L).loadConstant(-1L)),
                  code -> wrote(code.dup2().aload(1)))),
          Map.entry(
              "sun/nio/ch/UnixFileDispatcherImpl.truncate(Ljava/io/FileDescriptor;J)I"
                  + " truncate0(Ljava/io/FileDescriptor;J)I",
              Around.resize(code -> code.aload(1), 2)),
          Map.entry(
              "sun/nio/fs/UnixDirectoryStream.closeImpl()Z closedir(J)V",
              new Around(code -> call(code.dup2(), "endsListing", CD_long), code -> {})));

  private FilePatches() {}

  static boolean concerns(String name) {
    return NAMES.contains(name);
  }

  /** Adds the names of the patches that must find a place. */
  static void addExpected(Set<String> expected) {
    expected.addAll(BEGINNINGS.keySet());
    expected.addAll(ENDS.keySet());
    expected.addAll(CALLS.keySet());
    // transfers by the operating system: not every one has them
    expected.removeIf(name -> name.startsWith("sun/nio/ch/FileDispatcherImpl."));
  }

  /** Returns the patches of a method; {@code note} is told the name of each that is applied. */
  static CodeTransform of(String type, MethodModel method, Consumer<String> note) {
    String name =
        type + "." + method.methodName().stringValue() + method.methodType().stringValue();
    return new OfMethod(name, note);
  }

  private record OfMethod(String method, Consumer<String> note) implements CodeTransform {
    @Override
    public void atStart(CodeBuilder code) {
      emit(BEGINNINGS, code);
    }

    private void emit(Map<String, Consumer<CodeBuilder>> patches, CodeBuilder code) {
      Consumer<CodeBuilder> patch = patches.get(method);
      if (patch != null) {
        note.accept(method);
        patch.accept(code);
      }
    }

    @Override
    public void accept(CodeBuilder code, CodeElement element) {
      switch (element) {
        case ReturnInstruction end -> {
          emit(ENDS, code);
          code.with(end);
        }
        case InvokeInstruction call -> {
          String name = method + " " + call.name().stringValue() + call.type().stringValue();
          Around around = CALLS.get(name);
          if (around == null) {
            code.with(call);
          } else {
            note.accept(name);
            around.before.accept(code);
            code.with(call);
            around.after.accept(code);
          }
        }
        default -> code.with(element);
      }
    }
  }

  // ---- pieces of code ----

  private static CodeBuilder call(CodeBuilder code, String name, ClassDesc... parameters) {
    return code.invokestatic(FILES, name, MethodTypeDesc.of(CD_void, parameters));
  }

  private static void out(CodeBuilder code) {
    field(code, "java.io.FileOutputStream");
  }

  private static void random(CodeBuilder code) {
    field(code, "java.io.RandomAccessFile");
  }

  private static CodeBuilder field(CodeBuilder code, String type) {
    return code.aload(0).getfield(ClassDesc.of(type), "fd", DESCRIPTOR);
  }

  private static void channel(CodeBuilder code) {
    field(code, "sun.nio.ch.FileChannelImpl");
  }

  private static void awaiting(CodeBuilder code, Consumer<CodeBuilder> file) {
    file.accept(code);
    call(code, "awaiting", DESCRIPTOR);
  }

  private static void reading(CodeBuilder code) {
    call(field(code, "java.io.FileInputStream"), "reading", DESCRIPTOR);
  }

  private static void opening(CodeBuilder code) {
    call(code, "opening", CD_Object, CD_int);
  }

  private static void opened(CodeBuilder code) {
    call(code, "opened", DESCRIPTOR, CD_boolean, CD_int);
  }

  private static void writing(CodeBuilder code) {
    call(code, "writing", DESCRIPTOR, CD_long, CD_long);
  }

  private static void wrote(CodeBuilder code) {
    call(code, "wrote", CD_long, DESCRIPTOR);
  }

  private static void locked(CodeBuilder code) {
    channel(code.dup());
    call(code, "locked", LOCK, DESCRIPTOR);
  }

  private static CodeBuilder forced(CodeBuilder code, int descriptor) {
    return code.aload(descriptor)
        .invokestatic(FILES, "force", MethodTypeDesc.of(CD_boolean, DESCRIPTOR));
  }

  private static void noTransfer(CodeBuilder code, int target) {
    Label go = code.newLabel();
    code.aload(target)
        .invokestatic(FILES, "transfersByWrites", MethodTypeDesc.of(CD_boolean, DESCRIPTOR))
        .ifeq(go)
        .loadConstant(UNSUPPORTED_CASE)
        .lreturn()
        .labelBinding(go);
  }

  private static void refuse(CodeBuilder code, String what) {
    code.loadConstant(what)
        .invokestatic(JdkPatches.CALLS, "refuse", MethodTypeDesc.of(CD_void, CD_String));
  }

  private static void naming(CodeBuilder code, int path) {
    call(code.aload(path), "naming", CD_Object);
  }

  private static void named(CodeBuilder code, String method) {
    call(code, method, CD_boolean, CD_Object);
  }

  private static void renamed(CodeBuilder code) {
    call(code, "renamed", CD_boolean, CD_Object, CD_Object);
  }

  /** Reads all entries at the first read of a stream, so that they can be sorted. */
  private static void readAhead(CodeBuilder code) {
    Label read = code.newLabel();
    Label take = code.newLabel();
    Label go = code.newLabel();
    MethodTypeDesc ask = MethodTypeDesc.of(CD_boolean, CD_long);
    code.lload(0)
        .invokestatic(FILES, "startsListing", ask)
        .ifeq(take)
        .labelBinding(read)
        .lload(0)
        .lload(0)
        .invokestatic(NATIVES, "readdir0", MethodTypeDesc.of(BYTES, CD_long))
        .invokestatic(FILES, "listed", MethodTypeDesc.of(CD_boolean, CD_long, BYTES))
        .ifne(read)
        .labelBinding(take)
        .lload(0)
        .invokestatic(FILES, "lists", ask)
        .ifeq(go)
        .lload(0)
        .invokestatic(FILES, "nextListed", MethodTypeDesc.of(BYTES, CD_long))
        .areturn()
        .labelBinding(go);
  }
}
