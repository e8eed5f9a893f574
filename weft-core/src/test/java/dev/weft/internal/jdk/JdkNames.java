package dev.weft.internal.jdk;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.classfile.constantpool.MemberRefEntry;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.classfile.constantpool.StringEntry;
import java.lang.classfile.constantpool.Utf8Entry;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The hidden classes and members of the JDK that the class files of Weft name: those that are not
 * public, or in a package that is not exported. A name is a reference of the compiled code, or a
 * String constant, as look-ups and generated classes have them.
 *
 * <p>Of a String constant that is no class name it is not known what it is for. So in a source file
 * that looks up members or generates code, it counts as the name of every member of this name that
 * is not public, in the classes of the JDK that the same file names: too many, rather than too few.
 */
final class JdkNames {
  private static final Pattern CLASS = Pattern.compile("(?:java|jdk|sun)[./][\\w./$]+");
  private static final Pattern OURS = Pattern.compile("[./]Weft\\w*$"); // defined there by Weft
  private static final Pattern MEMBER = Pattern.compile("\\w+");

  /** Methods and classes by which a member is looked up that the compiler would refuse. */
  private static final Pattern LOOK_UP =
      Pattern.compile(
          ".*\\.(privateLookupIn|setAccessible|trySetAccessible)"
              + "|dev/weft/internal/jdk/(Inside|PrivateField)\\..*|java/lang/constant/ClassDesc\\.of");

  /** Hidden classes by name, with the source files that name them. */
  final Map<String, Set<String>> classes = new TreeMap<>();

  /** Hidden members as class.member, with the source files that name them. */
  final Map<String, Set<String>> members = new TreeMap<>();

  /** The source files that look up members of other classes, or generate code. */
  final Set<String> lookingUp = new TreeSet<>();

  private JdkNames() {}

  /** Reads all class files below the folder. */
  static JdkNames below(Path folder) throws IOException {
    Map<String, List<ClassModel>> bySource = new TreeMap<>();
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".class")).toList()) {
        String name = folder.relativize(file).toString().replaceFirst("\\.class$", "");
        bySource
            .computeIfAbsent(name.replaceFirst("\\$.*", ""), source -> new ArrayList<>())
            .add(ClassFile.of().parse(file));
      }
    }
    bySource.remove("internal/jdk/JdkInternals"); // the table itself
    JdkNames names = new JdkNames();
    bySource.forEach(names::read);
    return names;
  }

  private void read(String source, List<ClassModel> models) {
    Set<Class<?>> named = new LinkedHashSet<>();
    Set<String> words = new TreeSet<>();
    for (ClassModel model : models) {
      for (PoolEntry entry : model.constantPool()) {
        switch (entry) {
          case StringEntry string when CLASS.matcher(string.stringValue()).matches() ->
              add(named, string.stringValue());
          case StringEntry string when MEMBER.matcher(string.stringValue()).matches() ->
              words.add(string.stringValue());
          case ClassEntry type -> add(named, type.asInternalName());
          case MemberRefEntry reference -> {
            if (LOOK_UP.matcher(nameOf(reference)).matches()) {
              lookingUp.add(source);
            }
            refer(source, reference);
          }
          case Utf8Entry text -> addDescriptor(named, text.stringValue());
          default -> {}
        }
      }
      overridden(source, model);
    }
    for (Class<?> type : named) {
      if (isHidden(type)) {
        note(classes, type.getName(), source);
      }
      for (Member member : lookingUp.contains(source) ? membersOf(type) : List.<Member>of()) {
        if (words.contains(member.getName()) && isHidden(member)) {
          note(members, type.getName() + "." + member.getName(), source);
        }
      }
    }
  }

  private static void add(Set<Class<?>> named, String name) {
    if (OURS.matcher(name).find()) {
      return; // other tests of this JVM may have defined it there
    }
    try {
      named.add(Class.forName(name.replace('/', '.'), false, null));
    } catch (ClassNotFoundException | LinkageError e) {
      // a package
    }
  }

  /** Adds the types in the descriptor of a field or a method. */
  private static void addDescriptor(Set<Class<?>> named, String text) {
    if (text.endsWith(";") || text.startsWith("(")) {
      Pattern.compile("L((?:java|jdk|sun)/[\\w/$]+);")
          .matcher(text)
          .results()
          .forEach(type -> add(named, type.group(1)));
    }
  }

  private static String nameOf(MemberRefEntry reference) {
    return reference.owner().asInternalName() + "." + reference.name().stringValue();
  }

  /** Notes a reference to a hidden member, also if the code names a subclass of Weft's. */
  private void refer(String source, MemberRefEntry reference) {
    String member = reference.name().stringValue();
    if (member.startsWith("lambda$")) {
      return; // the class's own, which membersOf leaves out as synthetic
    }
    Class<?> type = classOf(reference.owner().asInternalName());
    while (type != null && type.getClassLoader() != null && !declares(type, member)) {
      type = type.getSuperclass();
    }
    if (type != null && type.getClassLoader() == null && isHidden(type)) {
      note(members, type.getName() + "." + member, source);
    }
  }

  private static @Nullable Class<?> classOf(String internalName) {
    try {
      return internalName.startsWith("[")
          ? null
          : Class.forName(internalName.replace('/', '.'), false, JdkNames.class.getClassLoader());
    } catch (ClassNotFoundException | LinkageError e) {
      return null; // a class of a module that this JVM does not have
    }
  }

  private static boolean declares(Class<?> type, String member) {
    return member.equals("<init>")
        || membersOf(type).stream().anyMatch(found -> found.getName().equals(member));
  }

  /** Methods that override those of a hidden superclass. */
  private void overridden(String source, ClassModel model) {
    Set<Class<?>> parent = new LinkedHashSet<>();
    model.superclass().ifPresent(type -> add(parent, type.asInternalName()));
    for (Class<?> type : parent) {
      if (isHidden(type)) {
        Set<String> own = new TreeSet<>();
        model.methods().forEach(method -> own.add(method.methodName().stringValue()));
        for (Method method : type.getDeclaredMethods()) {
          if (own.contains(method.getName()) && !Modifier.isStatic(method.getModifiers())) {
            note(members, type.getName() + "." + method.getName(), source);
          }
        }
      }
    }
  }

  private static List<Member> membersOf(Class<?> type) {
    List<Member> members = new ArrayList<>();
    try {
      for (Class<?> at = type; at != null && (at == type || isHidden(at)); ) {
        members.addAll(List.of(at.getDeclaredFields()));
        for (Method method : at.getDeclaredMethods()) {
          if (!method.isSynthetic()) {
            members.add(method);
          }
        }
        at = isHidden(type) ? at.getSuperclass() : null;
      }
    } catch (LinkageError e) {
      // a class with types that this JVM does not have
    }
    return members;
  }

  private static boolean isHidden(Class<?> type) {
    for (Class<?> at = type; at != null; at = at.getEnclosingClass()) {
      if (!Modifier.isPublic(at.getModifiers()) && !Modifier.isProtected(at.getModifiers())) {
        return true;
      }
    }
    return !type.isArray()
        && !type.isPrimitive()
        && !type.getModule().isExported(type.getPackageName());
  }

  private static boolean isHidden(Member member) {
    return !Modifier.isPublic(member.getModifiers()) || isHidden(member.getDeclaringClass());
  }

  private static void note(Map<String, Set<String>> map, String name, String source) {
    map.computeIfAbsent(name, n -> new TreeSet<>()).add(source);
  }
}
