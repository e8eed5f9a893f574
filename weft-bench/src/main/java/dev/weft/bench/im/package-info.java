/** The load on the instant-messaging server: many clients, attacks, two nodes, a node killed. */
@NullMarked
package dev.weft.bench.im;

import org.jspecify.annotations.NullMarked;
