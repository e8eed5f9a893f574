package dev.weft.sim.agent;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.MethodModel;
import java.lang.reflect.AccessFlag;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Knows which methods of the program are synchronized. The JVM locks before the first instruction
 * of such a method, so the point has to be before the call. Only the class that the call names is
 * looked at, and its superclasses, from their class files: nothing is loaded.
 */
final class SynchronizedMethods {
  private final ClassFile files;
  private final @Nullable ClassLoader loader;
  private final Map<String, Set<String>> known = new HashMap<>();

  SynchronizedMethods(ClassFile files, @Nullable ClassLoader loader) {
    this.files = files;
    this.loader = loader;
  }

  boolean has(String owner, String name, String signature) {
    return of(owner).contains(name + signature);
  }

  private Set<String> of(String owner) {
    Set<String> found = known.get(owner);
    if (found == null) {
      found = owner.startsWith("[") || owner.startsWith("java/") ? Set.of() : read(owner);
      known.put(owner, found);
    }
    return found;
  }

  private Set<String> read(String owner) {
    if (loader == null) {
      return Set.of();
    }
    try (InputStream in = loader.getResourceAsStream(owner + ".class")) {
      if (in == null) {
        return Set.of();
      }
      ClassModel model = files.parse(in.readAllBytes());
      Set<String> found = new HashSet<>();
      model.superclass().ifPresent(parent -> found.addAll(of(parent.asInternalName())));
      for (MethodModel method : model.methods()) {
        if (method.flags().has(AccessFlag.SYNCHRONIZED)) {
          found.add(method.methodName().stringValue() + method.methodType().stringValue());
        }
      }
      return found;
    } catch (IOException | IllegalArgumentException e) {
      return Set.of(); // the point is left out, and the one inside the method remains
    }
  }
}
