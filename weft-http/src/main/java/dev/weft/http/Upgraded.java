package dev.weft.http;

/** A connection that speaks another protocol than HTTP from now on. */
record Upgraded(Input input, Output output, Transport transport) {}
