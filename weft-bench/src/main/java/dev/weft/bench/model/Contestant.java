package dev.weft.bench.model;

/** One side of a comparison. */
public record Contestant(String name, Measurement measurement) {}
