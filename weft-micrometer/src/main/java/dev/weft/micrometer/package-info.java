/** Binds the numbers of a scheduler to a Micrometer registry: {@code WeftMetrics}. */
package dev.weft.micrometer;
