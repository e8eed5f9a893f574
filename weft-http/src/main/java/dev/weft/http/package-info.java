/**
 * HTTP/1.1 and WebSocket on fibers, behind the API of {@code com.sun.net.httpserver}.
 *
 * <pre>
 *   HttpServer.create ──► WeftHttpServerProvider ──► PlainServer, TlsServer ──► Server
 *                                                                                │ accepts
 *     Transport ◄── Input ── RequestHead ── RequestBody ◄─┐                       ▼
 *         ▲                                               ├── Exchange ◄────── Connection,
 *         └──────── Output ◄──────────── ResponseBody ◄───┘      │             a fiber each
 *                                                                ▼
 *                                                     filters, handler of a Context
 * </pre>
 */
package dev.weft.http;
