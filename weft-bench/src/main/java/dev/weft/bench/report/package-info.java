/** Turns readings into a table, a picture and a JSON file. */
@NullMarked
package dev.weft.bench.report;

import org.jspecify.annotations.NullMarked;
