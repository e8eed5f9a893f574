/**
 * Sockets that never block, in two kinds: descriptors of our own, and the JDK's channels.
 *
 * <pre>
 *   TcpStream, TcpListener, UdpSocket        what waits, and what users see
 *             │
 *         NetSocket                          what tries, and remembers what is ready
 *          ╱     ╲
 *     FdLife       │                          a descriptor, from its registration to its close
 *      │           │
 *   FdSocket     NioSocket
 *      │             │
 *  EpollPoller   NioPoller                   what tells it is ready again
 * </pre>
 */
package dev.weft.internal.net;
