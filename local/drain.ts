import type { Server } from 'node:http';

/** How often connections are checked for being idle. */
const CHECK_INTERVAL_MS = 20;

/**
 * Stops a server gracefully: accepts no new connections and finishes the requests under way. Keep-alive connections would
 * delay the stop, so each is closed when it is idle, or after its current answer (`Connection: close`).
 *
 * @param timeoutMs after which requests that are still under way are aborted
 */
export function drain(server: Server, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    server.prependListener('request', (_, response) => response.setHeader('Connection', 'close'));
    const idle = setInterval(() => server.closeIdleConnections(), CHECK_INTERVAL_MS);
    const end = setTimeout(() => server.closeAllConnections(), timeoutMs);
    server.close(() => {
      clearInterval(idle);
      clearTimeout(end);
      resolve();
    });
    server.closeIdleConnections();
  });
}
