import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/**
 * The IP address that a request came from. Behind a proxy (`BEHIND_PROXY=1`) every connection is the proxy's, which appends
 * the caller's address to `X-Forwarded-For`; the entries before it are not trusted.
 */
export function callerAddress(request: IncomingMessage, env: NodeJS.ProcessEnv = process.env): string {
  const peer = request.socket.remoteAddress ?? '127.0.0.1';
  if (env['BEHIND_PROXY'] !== '1') return peer;
  const forwarded = [request.headers['x-forwarded-for'] ?? ''].flat().join(',').split(',').at(-1)!.trim();
  return isIP(forwarded) === 0 ? peer : forwarded;
}
