import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { drain } from '../../local/drain.ts';

/**
 * The functions behind `node:http` in a process of its own, over the table and bucket that the environment names, as
 * functions are: nothing embedded runs here. Several may serve the same data. `CHECKOUT` is the folder whose release it
 * runs. `POST /_work` does what workers would: everything that is promised and due, until nothing is; by hand, because
 * the drill decides when.
 */
const checkout = process.env['CHECKOUT'] ?? join(import.meta.dirname, '../..');
const module = async (path: string) => import(pathToFileURL(join(checkout, path)).href);

const { useTransport } = await module('lib/store/clients.ts');
useTransport({ s3: { forcePathStyle: true } });
const { installLambdaGlobal, lambdaContext } = await module('local/lambda.ts');
installLambdaGlobal();
process.env['STREAM'] = '1';
const { gateway } = await module('local/gateway.ts');
const { gatewayRoutes } = await module('local/routes.ts');
const { areas, areasOf } = await module('functions/areas.ts');
// Releases before the folders by subject have it one level up.
const outboxPath = ['lib/store/outbox/outbox.ts', 'lib/store/outbox.ts'].find((path) =>
  existsSync(join(checkout, path)),
);
const { Outbox } = await module(outboxPath!);
const { deps } = await module('functions/deps.ts');

interface Worker {
  readonly name: string;
  readonly entry: string;
  readonly queue: string;
}
const load = (entry: string) => module(`functions/${entry}`);

const server = createServer({ keepAliveTimeout: 60_000 });
server.listen(Number(process.env['PORT'] ?? 0), '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const baseUrl = process.env['BASE_URL'] ?? url;
process.env['BASE_URL'] = baseUrl;
const serve = gateway({
  route: gatewayRoutes(areas),
  load,
  baseUrl,
  limits: false,
  gitAuthorizer: areasOf('authorizer')[0].entry,
});
server.on('request', (request, response) => {
  if (request.method === 'POST' && request.url === '/_work') {
    work().then(
      (done) => response.end(JSON.stringify(done)),
      (error) => {
        response.statusCode = 500;
        response.end(String(error?.stack ?? error));
      },
    );
  } else void serve(request, response);
});
if (process.env['ROOT_TOKEN'] !== undefined) {
  const { handler } = await load('first-administrator.ts');
  await handler({ token: process.env['ROOT_TOKEN'] }, lambdaContext('first-administrator', 30));
}
process.stdout.write(`ready at ${url}\n`);

process.once('SIGTERM', () => {
  void drain(server, 10_000).then(() => process.exit(0));
});

async function work(): Promise<string[]> {
  const done: string[] = [];
  const workers = new Map<string, Worker>(areasOf('worker').map((area: Worker) => [area.queue, area]));
  const sender = {
    async send(queue: string, messages: readonly { id: string; body: string }[]) {
      const { name, entry } = workers.get(queue)!;
      const { handler } = await load(entry);
      for (const { id, body } of messages) {
        const records = [{ messageId: id, body, attributes: { ApproximateReceiveCount: '1' } }];
        const { batchItemFailures } = await handler({ Records: records }, lambdaContext(name, 60));
        if (batchItemFailures.length > 0) throw new Error(`${queue} failed: ${body}`);
        done.push(JSON.parse(body).type);
      }
    },
  };
  const outbox = new Outbox(deps().store.table, sender);
  while ((await outbox.sweep(new Date(), 0)).sent > 0);
  return done;
}
