import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { deps } from '../../functions/deps.ts';
import { awsClients } from '../../lib/store/clients.ts';
import { startHost } from '../../local/host.ts';
import { storeOf } from '../harness/world.ts';
import { livingOf } from './check-rows.ts';
import { readRows } from './rows.ts';

/**
 * A host that does nothing but maintain its repositories, each time as if another day had passed, until it is killed.
 * Nobody reads meanwhile: to a reader a day is a day. Where its calendar stands outlives it.
 */
const DAY = 25 * 3600_000;
/** The oldest, which were written to most. */
const REPOSITORIES = 5;

const dataDir = process.env['DATA_DIR']!;
const calendar = `${dataDir}.calendar`;
const host = await startHost({ dataDir, port: 0, host: '127.0.0.1', background: false });
const rows = await readRows({ store: storeOf(), clients: awsClients() });
const repositories = livingOf(rows)
  .sort((a, b) => a.id - b.id)
  .map(({ row }) => row['repositoryId'] as string)
  .slice(0, REPOSITORIES);
let day = existsSync(calendar) ? Number(readFileSync(calendar, 'utf8')) : 0;
Object.assign(deps(), { now: () => new Date(Date.now() + day * DAY) });
console.log(`Lemnos is ready at ${host.url}`);
for (;;) {
  day++;
  writeFileSync(calendar, String(day));
  for (const repositoryId of repositories) {
    const body = { repositoryId, collect: true, refs: true };
    const message = { id: `${repositoryId}-${day}`, type: 'repository.maintain', body };
    const Records = [{ messageId: message.id, body: JSON.stringify(message) }];
    const { batchItemFailures } = (await host.invoke('maintenance', { Records })) as {
      batchItemFailures: readonly unknown[];
    };
    if (batchItemFailures.length > 0) throw new Error(`day ${day}: ${repositoryId} could not be maintained`);
  }
}
