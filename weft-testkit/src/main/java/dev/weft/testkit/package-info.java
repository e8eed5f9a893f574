/**
 * The shared parts of Weft's tests: feature tags, a journal of results, time limits, commands.
 *
 * <pre>
 *   tests ──► TestJournal ──► features.tsv of each module ──┐
 *                                      docs/features.md ──► FeatureTable ──► target/features.md
 * </pre>
 */
@NullMarked
package dev.weft.testkit;

import org.jspecify.annotations.NullMarked;
