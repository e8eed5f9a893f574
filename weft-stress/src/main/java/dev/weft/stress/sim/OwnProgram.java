package dev.weft.stress.sim;

import dev.weft.Body;

/**
 * A program over a part of Weft. It checks what that part promises, and throws if that is broken;
 * the simulation finds deadlocks by itself.
 *
 * @param name its name in reports, and for replays
 * @param body runs as a fiber of a simulation
 */
public record OwnProgram(String name, Body body) {
  @Override
  public String toString() {
    return name;
  }
}
