//DEPS org.postgresql:postgresql:42.7.14

import java.sql.*;

record Month(int number, long orders, long revenue) {}

/**
 * A report from PostgreSQL: many slow queries at once, with a connection and a virtual thread for
 * each, and the answers in order. Plain JDBC that knows nothing of Weft; it only reads.
 *
 * <pre>
 * bin/servers postgres                       # runs a server and prints its URL; or use your own
 * ./weft run examples/Report.java 'THE URL'  # or set DATABASE_URL
 * </pre>
 */
void main(String[] args) throws InterruptedException {
  String url = args.length > 0 ? args[0] : System.getenv("DATABASE_URL");
  if (url == null) {
    System.err.println(
        "Report: which database? Give its URL as the argument, or in DATABASE_URL:"
            + " jdbc:postgresql://HOST:PORT/NAME?user=USER; 'bin/servers postgres' runs one for you");
    System.exit(2);
  }
  List<Month> months = new ArrayList<>();
  try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
    List<Future<Month>> asked = new ArrayList<>();
    for (int i = 1; i <= 36; i++) {
      int month = i;
      asked.add(threads.submit(() -> ask(url, month)));
    }
    for (Future<Month> answer : asked) {
      months.add(answer.get());
    }
  } catch (ExecutionException e) {
    System.err.println("Report: cannot read from " + url + ": " + e.getCause().getMessage());
    System.exit(1);
  }
  IO.println("month  orders   revenue");
  for (Month month : months) {
    IO.println("%5d%8d%10d".formatted(month.number(), month.orders(), month.revenue()));
  }
  IO.println("total%8d%10d".formatted(
      months.stream().mapToLong(Month::orders).sum(),
      months.stream().mapToLong(Month::revenue).sum()));
}

/** The database computes the data of a fictional shop, and takes half a second. */
Month ask(String url, int month) throws SQLException {
  String question =
      """
      with orders as (
        select n, 5 + (n * 37 + %1$d * 11) %% 100 as price
        from generate_series(1, 40 + (%1$d * 29) %% 50) as n)
      select count(*), sum(price), pg_sleep(0.5) from orders
      """.formatted(month);
  try (Connection connection = DriverManager.getConnection(url);
      Statement statement = connection.createStatement();
      ResultSet result = statement.executeQuery(question)) {
    result.next();
    return new Month(month, result.getLong(1), result.getLong(2));
  }
}
