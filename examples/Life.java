import dev.weft.*;
import dev.weft.sync.*;

static final int SIZE = 5;

/** Conway's game of life, a fiber for each row: a barrier keeps the rows in the same generation. */
void main() {
  boolean[][] cells = new boolean[SIZE][SIZE];
  cells[2][1] = cells[2][2] = cells[2][3] = true; // a blinker
  boolean[][] next = new boolean[SIZE][SIZE];
  Barrier computed = new Barrier(SIZE);
  Barrier copied = new Barrier(SIZE);
  try (Scope rows = Scope.open()) {
    for (int i = 0; i < SIZE; i++) {
      int row = i;
      rows.go(() -> {
        for (int generation = 0; generation < 3; generation++) {
          for (int column = 0; column < SIZE; column++) {
            next[row][column] = lives(cells, row, column);
          }
          computed.await(); // until no row reads the old generation any more
          System.arraycopy(next[row], 0, cells[row], 0, SIZE);
          if (copied.await() == 0) { // true for one row in each generation
            print(generation, next);
          }
          copied.await(); // until it is printed
        }
      });
    }
    rows.join();
  }
}

boolean lives(boolean[][] cells, int row, int column) {
  int neighbours = 0;
  for (int r = Math.max(0, row - 1); r <= Math.min(SIZE - 1, row + 1); r++) {
    for (int c = Math.max(0, column - 1); c <= Math.min(SIZE - 1, column + 1); c++) {
      neighbours += cells[r][c] && (r != row || c != column) ? 1 : 0;
    }
  }
  return neighbours == 3 || neighbours == 2 && cells[row][column];
}

void print(int generation, boolean[][] cells) {
  IO.println("generation " + generation);
  for (boolean[] row : cells) {
    var line = new StringBuilder();
    for (boolean cell : row) {
      line.append(cell ? '#' : '.');
    }
    IO.println(line);
  }
}
