package dev.weft.proof;

import dev.weft.testkit.TestServer;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import javax.sql.DataSource;

/** The tested releases of PostgreSQL's JDBC driver, each from its own class loader. */
enum PostgresDriver {
  /** The newest release: it waits for the server while it holds a {@code ReentrantLock}. */
  CURRENT(PostgresDriver.class.getClassLoader()),

  /** The last release before 42.6: it waits for the server inside {@code synchronized}. */
  SYNCHRONIZED(jarLoader(Path.of(System.getProperty("weft.old-driver"))));

  @SuppressWarnings("ImmutableEnumChecker") // no code sets the loader's assertion status
  private final ClassLoader loader;

  PostgresDriver(ClassLoader loader) {
    this.loader = loader;
  }

  private static ClassLoader jarLoader(Path jar) {
    try {
      return new URLClassLoader(
          new URL[] {jar.toUri().toURL()}, ClassLoader.getPlatformClassLoader());
    } catch (MalformedURLException e) {
      throw new IllegalArgumentException(e);
    }
  }

  /** Returns a data source for the server. */
  DataSource dataSource(TestServer server) throws ReflectiveOperationException {
    Class<?> type = loader.loadClass("org.postgresql.ds.PGSimpleDataSource");
    DataSource source = (DataSource) type.getConstructor().newInstance();
    type.getMethod("setURL", String.class).invoke(source, server.url());
    return source;
  }

  /** Returns the version that the driver reports: {@code 42.5.6}. */
  String version() throws ReflectiveOperationException {
    return (String)
        loader.loadClass("org.postgresql.util.DriverInfo").getField("DRIVER_VERSION").get(null);
  }
}
