/** Timers: callbacks that run as fibers, once or again and again. */
package dev.weft.time;
