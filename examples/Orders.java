//DEPS com.h2database:h2:2.5.252

import dev.weft.*;
import dev.weft.channel.*;
import java.sql.*;

static final String DATABASE = "jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1"; // in this process: nothing to install

/** JDBC from a hundred fibers through four connections; a channel is the pool. */
void main() throws Exception {
  Channel<Connection> pool = Channel.buffered(4);
  for (int i = 0; i < 4; i++) {
    pool.send(DriverManager.getConnection(DATABASE));
  }
  query(pool, "create table orders (id identity, customer int, amount int)");
  try (Scope customers = Scope.open()) {
    for (int i = 1; i <= 100; i++) {
      int customer = i;
      customers.go("customer " + customer, () -> {
        for (int amount = 1; amount <= 5; amount++) {
          query(pool, "insert into orders (customer, amount) values (?, ?)", customer, amount * customer);
        }
      });
    }
    customers.join();
  }
  IO.println("orders, sum: " + query(pool, "select count(*), sum(amount) from orders"));
  IO.println("the best customer: " + query(pool,
      "select customer, sum(amount) from orders group by customer order by 2 desc limit 1"));
  for (int i = 0; i < 4; i++) {
    pool.receive().close();
  }
}

/** Runs a statement on a connection of the pool; returns its first row, or nothing. */
List<Object> query(Channel<Connection> pool, String sql, Object... parameters) throws Exception {
  Connection connection = pool.receive(); // waits until a connection is free; FIFO
  try (PreparedStatement statement = connection.prepareStatement(sql)) {
    for (int i = 0; i < parameters.length; i++) {
      statement.setObject(i + 1, parameters[i]);
    }
    List<Object> row = new ArrayList<>();
    if (statement.execute()) {
      ResultSet result = statement.getResultSet();
      result.next();
      for (int i = 1; i <= result.getMetaData().getColumnCount(); i++) {
        row.add(result.getObject(i));
      }
    }
    return row;
  } finally {
    Weft.shielded(() -> pool.send(connection)); // also if this fiber is cancelled
  }
}
