import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/**
 * Where a request came from. Behind a proxy (`BEHIND_PROXY=1`) every connection is the proxy's, which adds the address
 * that it saw at the end of `X-Forwarded-For`; what stands before that, anybody may have written.
 */
export function callerAddress(request: IncomingMessage, env: NodeJS.ProcessEnv = process.env): string {
  const peer = request.socket.remoteAddress ?? '127.0.0.1';
  if (env['BEHIND_PROXY'] !== '1') return peer;
  const seen = [request.headers['x-forwarded-for'] ?? ''].flat().join(',').split(',').at(-1)!.trim();
  return isIP(seen) === 0 ? peer : seen;
}
