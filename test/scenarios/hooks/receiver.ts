import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { FOREIGN_CERTIFICATE } from '../../harness/foreign-certificate.ts';

/** A call as it arrived. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: payloads of many shapes.
  readonly body: any;
}

/** A server that records what it is sent, and answers as the first segment of the path says. */
export async function startReceiver() {
  const received: Received[] = [];
  const held: ServerResponse[] = [];
  const broken = new Set<string>();
  const answer: RequestListener = (request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece) => pieces.push(piece));
    request.on('end', () => {
      const path = request.url ?? '';
      received.push({
        path,
        headers: request.headers,
        body: JSON.parse(Buffer.concat(pieces).toString() || 'null'),
      });
      const kind = path.split('/')[1] ?? '';
      if (broken.has(path)) response.writeHead(500).end('broken');
      else if (kind === 'hold') held.push(response);
      else if (kind === 'absent') response.writeHead(404, { 'X-Reason': 'none' }).end('nothing here');
      else if (kind === 'redirect') response.writeHead(302, { Location: '/inside' }).end();
      else if (kind === 'close') request.socket.destroy();
      else if (kind === 'huge') {
        response.writeHead(200);
        const more = () => {
          while (!response.destroyed && response.write('x'.repeat(65_536)));
        };
        response.on('drain', more);
        more();
      } else response.writeHead(200, { 'Content-Type': 'text/plain' }).end('thank you');
    });
  };
  const servers = [createServer(answer), createSecureServer(FOREIGN_CERTIFICATE, answer)] as const;
  const [port, securePort] = await Promise.all(
    servers.map(async (server) => {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return (server.address() as AddressInfo).port;
    }),
  );
  return {
    url: `http://127.0.0.1:${port}`,
    /** With a certificate that nobody vouches for, of another name. */
    secureUrl: `https://127.0.0.1:${securePort}`,
    received,
    /** Paths that answer 500. */
    broken,
    at: (path: string) => received.filter((each) => each.path === path),
    letGo: () => {
      for (const response of held.splice(0)) response.end('late');
    },
    stop: () => {
      for (const server of servers) {
        server.closeAllConnections();
        server.close();
      }
    },
  };
}
