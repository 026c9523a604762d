import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';

/** A call as it arrived. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A server that records what it is sent. @param answers by path */
export async function startReceiver(answers: Readonly<Record<string, unknown>> = {}) {
  const calls: Call[] = [];
  /** Paths that answer 500. */
  const broken = new Set<string>();
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece) => pieces.push(piece));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      calls.push({ method, path, headers, text: Buffer.concat(pieces).toString() });
      if (broken.has(path)) response.writeHead(500).end();
      else response.writeHead(200).end(JSON.stringify(answers[path] ?? {}));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    broken,
    at: (path: string) => calls.filter((call) => call.path === path),
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A server without HTTP that records what each connection sent. */
export async function startLineReceiver() {
  const received: string[] = [];
  const server = createSocketServer((socket) => {
    const pieces: Buffer[] = [];
    socket.on('data', (piece) => pieces.push(piece));
    socket.on('end', () => {
      received.push(Buffer.concat(pieces).toString());
      socket.end();
    });
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, received, stop: () => server.close() };
}
