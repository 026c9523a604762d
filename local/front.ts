import { createServer, type Server } from 'node:http';
import { log } from '../lib/telemetry/log.ts';
import { drain } from './drain.ts';
import { type FunctionModule, streamThrough } from './gateway.ts';

/**
 * Serves Git alone, streamed, from the table and the bucket that the environment names: for transfers of any size, beside a
 * gateway that accepts 4.5 MB and sends 200 MB (`docs/large-pushes.md`). It uses none of the embedded services. `GET /healthz` answers 200
 * while it listens.
 *
 * | variable | |
 * |---|---|
 * | `TABLE_NAME`, `OBJECTS_BUCKET`, `QUEUE_URL_*`, credentials for the SDK | as for the functions |
 * | `PORT`, `HOST` | where it listens; 8080 and all addresses by default |
 * | `BASE_URL` | its public URL |
 */
export interface Front {
  readonly url: string;
  /** Finishes the requests under way, for at most this many milliseconds. */
  stop(timeoutMs?: number): Promise<void>;
}

const REQUIRED = ['TABLE_NAME', 'OBJECTS_BUCKET', 'QUEUE_URL_MAINTENANCE', 'QUEUE_URL_INGEST'];
/**
 * Longer than the load balancer's idle timeout (`cdk/front-stack.ts`): it must close connections first, or it answers 502
 * for a request that it sends on a connection that is being closed (Elastic Load Balancing, "Troubleshoot your ALBs").
 */
export const KEEP_ALIVE_MS = 65 * 60_000;
/** For a request to arrive. With the time to process it, a push ends within the hour that a load balancer drains for. */
export const REQUEST_MS = 50 * 60_000;

/** How often it is looked for requests that take too long to arrive. */
const CHECK_MS = 30_000;

export async function startFront(
  env: NodeJS.ProcessEnv = process.env,
  load: () => Promise<FunctionModule> = () => import('../functions/git.ts') as Promise<FunctionModule>,
  { requestMs = REQUEST_MS, keepAliveMs = KEEP_ALIVE_MS } = {},
): Promise<Front> {
  const missing = REQUIRED.filter((name) => env[name] === undefined || env[name] === '');
  if (missing.length > 0) throw new Error(`missing environment variables: ${missing.join(', ')}`);
  // It names this server: redirecting there would loop.
  delete env['GIT_FRONT_URL'];
  // The limit of a function's response.
  delete env['MAX_FETCH_BYTES'];
  const { fetch } = await load();
  if (fetch === undefined) throw new Error('the Git function has no fetch handler');
  const server = createServer({
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.min(requestMs, CHECK_MS),
    keepAliveTimeout: keepAliveMs,
  });
  const port = await listening(server, Number(env['PORT'] ?? 8080), env['HOST'] ?? '0.0.0.0');
  const baseUrl = env['BASE_URL']?.replace(/\/+$/, '') ?? `http://localhost:${port}`;
  server.on('request', (request, response) => {
    if (request.url === '/healthz') {
      response.setHeader('Content-Type', 'text/plain');
      response.end('ok\n');
      return;
    }
    streamThrough({ baseUrl }, fetch, request, response).catch((error: unknown) => {
      log('error', 'front', { error: String(error) });
      if (!response.headersSent) response.statusCode = 502;
      response.destroy();
    });
  });
  return {
    url: `http://localhost:${port}`,
    stop: (timeoutMs = 100_000) => drain(server, timeoutMs),
  };
}

function listening(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

if (import.meta.main) {
  const front = await startFront().catch((error: Error) => {
    process.stderr.write(`The Git front could not start: ${error.message}\n`);
    process.exit(1);
  });
  process.stdout.write(`The Git front is ready at ${front.url}\n`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void front.stop().then(() => process.exit(0)));
  }
}
