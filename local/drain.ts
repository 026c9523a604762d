import type { Server } from 'node:http';

/** How soon a connection is closed whose last request has ended. */
const LOOK_MS = 20;

/**
 * Takes no new connections and lets the requests under way end. Clients keep connections open for the next request, which
 * would hold up the end for as long: each is closed as soon as nothing is asked on it, and with the answer to what still is.
 *
 * @param patience milliseconds after which what is still under way is broken off
 */
export function drain(server: Server, patience: number): Promise<void> {
  return new Promise((resolve) => {
    server.prependListener('request', (_, response) => response.setHeader('Connection', 'close'));
    const idle = setInterval(() => server.closeIdleConnections(), LOOK_MS);
    const end = setTimeout(() => server.closeAllConnections(), patience);
    server.close(() => {
      clearInterval(idle);
      clearTimeout(end);
      resolve();
    });
    server.closeIdleConnections();
  });
}
