package dev.weft.bench.model;

/** One trial that was made: who, at which parameter value, in which round, and what came out. */
public record Run(int round, String parameter, String contestant, Outcome outcome) {}
