package dev.weft.bench.model;

/** One trial that was made: its round, parameter value and contestant, and its outcome. */
public record Run(int round, String parameter, String contestant, Outcome outcome) {}
