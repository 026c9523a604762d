import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startFront } from '../../../local/front.ts';
import type { FunctionModule } from '../../../local/gateway.ts';

/** The URL of a Git front with limits of its own, which answers what it is sent. */
async function started(limits: Parameters<typeof startFront>[2]): Promise<URL> {
  const names = ['TABLE_NAME', 'OBJECTS_BUCKET', 'QUEUE_URL_MAINTENANCE', 'QUEUE_URL_INGEST'];
  const env = Object.fromEntries(names.map((name) => [name, 'x']));
  const fetch = async (request: Request) => new Response(await request.text());
  const load = async () => ({ fetch }) as Partial<FunctionModule> as FunctionModule;
  const front = await startFront({ ...env, PORT: '0', HOST: '127.0.0.1' }, load, limits);
  onTestFinished(() => front.stop(0));
  return new URL(front.url);
}

/** All that is sent to who says this and no more. */
async function sentBack({ port }: URL, said: string): Promise<string> {
  const socket = connect(Number(port), '127.0.0.1');
  const answer: Buffer[] = [];
  socket.on('data', (bytes) => answer.push(bytes));
  socket.write(said);
  await once(socket, 'close');
  return Buffer.concat(answer).toString('latin1');
}

const PUSH = 'POST /a/b.git/git-receive-pack HTTP/1.1\r\nHost: x\r\n';

test.each([
  ['head', PUSH],
  ['body', `${PUSH}Content-Length: 10\r\n\r\n0000`],
])('a request whose %s does not end is ended by the front after its time', async (_, said) => {
  const front = await started({ requestMs: 50 });
  expect(await sentBack(front, said)).toMatch(/^HTTP\/1\.1 408 /);
});

test('the front tells how long it keeps a connection without requests', async () => {
  const { headers } = await fetch(new URL('/healthz', await started({ keepAliveMs: 7_000 })));
  expect(headers.get('Keep-Alive')).toBe('timeout=7');
});
