/** Starts the console when the core asks for it; found by a ServiceLoader. */
package dev.weft.console.start;
