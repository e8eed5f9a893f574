import org.jspecify.annotations.NullMarked;

/** A web page that shows the fibers of a running program. */
@NullMarked
module dev.weft.console {
  requires transitive dev.weft;
  requires dev.weft.http;

  exports dev.weft.console;

  provides dev.weft.internal.start.ConsoleStarter with
      dev.weft.console.start.PropertyConsole;
}
