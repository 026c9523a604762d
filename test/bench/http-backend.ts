import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GIT_ENVIRONMENT } from './git.ts';

/** git's own server for comparison: `git http-backend` behind a minimal CGI gateway. */
export interface HttpBackend {
  readonly url: string;
  /** Handles a request that the gate held back. */
  answer(request: IncomingMessage, response: ServerResponse): void;
  stop(): Promise<void>;
}

/**
 * @param root the directory whose repositories are served
 * @param gate is called first for each request; returns true if it has answered it
 */
export async function startHttpBackend(
  root: string,
  gate: (request: IncomingMessage, response: ServerResponse) => boolean = () => false,
): Promise<HttpBackend> {
  const server = createServer({ requestTimeout: 0 }, (request, response) => {
    if (!gate(request, response)) answer(root, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer: (request, response) => answer(root, request, response),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answer(root: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://127.0.0.1');
  const { headers } = request;
  const child = spawn('git', ['http-backend'], {
    env: {
      ...GIT_ENVIRONMENT,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: headers['content-type'] ?? '',
      CONTENT_LENGTH: headers['content-length'] ?? '',
      HTTP_CONTENT_ENCODING: headers['content-encoding'] ?? '',
      GIT_PROTOCOL: headers['git-protocol']?.toString() ?? '',
      REMOTE_ADDR: '127.0.0.1',
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  // If the backend ends before it has read everything, its answer tells why.
  child.stdin.on('error', () => {});
  request.pipe(child.stdin);
  child.once('error', () => response.destroy());
  response.once('close', () => child.kill());

  let head = Buffer.alloc(0);
  const begin = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    child.stdout.off('data', begin);
    for (const field of head.toString('latin1', 0, end).split('\r\n')) {
      const [name, value] = field.split(/: (.*)/) as [string, string];
      if (name === 'Status') response.statusCode = Number.parseInt(value, 10);
      else response.appendHeader(name, value);
    }
    response.write(head.subarray(end + 4));
    child.stdout.pipe(response);
  };
  child.stdout.on('data', begin);
}
