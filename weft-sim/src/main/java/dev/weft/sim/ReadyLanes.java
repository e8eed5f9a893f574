package dev.weft.sim;

import dev.weft.sim.Chooser.Choice;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The fibers that can go on, sorted by number. Few as a rule: insertion is cheaper than a tree. */
final class ReadyLanes {
  private Lane[] lanes = new Lane[16];
  private int size;

  int size() {
    return size;
  }

  Lane first() {
    return lanes[0];
  }

  void add(Lane lane) {
    if (size == lanes.length) {
      lanes = Arrays.copyOf(lanes, 2 * size);
    }
    insert(lanes, size++, lane);
  }

  private static void insert(Lane[] sorted, int count, Lane lane) {
    int place = count;
    while (place > 0 && sorted[place - 1].number > lane.number) {
      sorted[place] = sorted[place - 1];
      place--;
    }
    sorted[place] = lane;
  }

  /** Removes a fiber that is here. */
  void remove(Lane lane) {
    int place = 0;
    while (lanes[place] != lane) {
      place++;
    }
    size--;
    System.arraycopy(lanes, place + 1, lanes, place, size - place);
    lanes[size] = null;
  }

  boolean has(Lane lane) {
    return Arrays.asList(lanes).subList(0, size).contains(lane);
  }

  /** Removes a fiber if it is here; returns whether it was. */
  boolean removeIfThere(Lane lane) {
    for (int i = 0; i < size; i++) {
      if (lanes[i] == lane) {
        remove(lane);
        return true;
      }
    }
    return false;
  }

  /** Makes these fibers the candidates of a choice, with the fiber that runs, if it can go on. */
  void copyTo(Choice choice, @Nullable Lane running) {
    if (choice.ready.length <= size) {
      choice.ready = new Lane[2 * size + 1];
    }
    System.arraycopy(lanes, 0, choice.ready, 0, size);
    choice.count = size;
    if (running != null) {
      insert(choice.ready, choice.count++, running);
    }
  }

  @Override
  public String toString() {
    return Arrays.toString(Arrays.copyOf(lanes, size));
  }
}
