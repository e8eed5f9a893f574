/**
 * Access to the JDK's internals: the flags, the way in without flags, and the table of all that
 * Weft touches there.
 *
 * <pre>
 *   RequiredFlags.check ── flags given ────────────────────────────► open
 *     └─ else NativeOpening ─► BootClasses (JNI DefineClass) ─► Module.implAddOpens ─► open
 *
 *   JdkInternals    the table: part, how, class, member, why; docs/jdk-internals.md is made from it
 *   TestedBuilds    the digests of the class files that fast switching was tested with
 *   Inside          a lookup with full access to a class of java.base, and hidden nestmates
 *   ClassInJdk      generates a class that extends one of the JDK's
 *   PrivateField    a field, made accessible
 *   ChannelInternals, ProcessEnd   two uses that belong to no other package
 * </pre>
 *
 * <p>{@code internal.switching} and {@code internal.hook} look into the JDK too, by these classes;
 * no other package does ({@code JdkInternalsTest}). Invariants: no class here reaches into the JDK
 * before {@code RequiredFlags.check} has returned. What does not fit this JDK is an {@link
 * dev.weft.internal.jdk.UnsupportedJdk}, thrown before anything has been changed.
 */
package dev.weft.internal.jdk;
