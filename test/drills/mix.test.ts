/**
 * What a request costs of those that many people send: the mix of `npm run bench load`, counted. The second table of
 * docs/cost.md may not drift from it. `COST_TABLE=write npm run test:drills -- mix` writes it anew.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PRICE } from '../../cdk/prices.ts';
import { generate, numbers } from '../bench/generated.ts';
import { LoadClient } from '../bench/load-client.ts';
import { type LoadData, makeData } from '../bench/load-data.ts';
import { type Kind, MIX } from '../bench/load-mix.ts';
import { LogLines } from '../harness/log-lines.ts';
import { MetricLines } from '../harness/metric-lines.ts';
import { ROOT_TOKEN, type Service, startService } from '../harness/service.ts';
import { Waits } from '../harness/waits.ts';
import { type Action, type Counting, counted } from './counted-units.ts';
import { DocumentedPart, rounded, tableHead, tableRow } from './documented-table.ts';

const DOCUMENTED = new DocumentedPart('mix');
/** Each kind is sent so often; it goes to other projects and people each time. */
const TIMES = 3;
const ALL = 'all of them, by their shares';

const scratch = mkdtempSync(join(tmpdir(), 'lemnos-mix-'));
let counting: Counting;
let service: Service;
let data: LoadData;

beforeAll(async () => {
  const [lines, metrics] = [LogLines.watch(), MetricLines.watch('Lemnos')];
  service = await startService({ background: false });
  const directory = generate(join(scratch, 'generated.git'));
  const { url } = service;
  const making = {
    token: ROOT_TOKEN,
    call: (method: string, path: string, json?: unknown) =>
      fetch(`${url}/api/v4${path}`, {
        method,
        headers: { 'PRIVATE-TOKEN': ROOT_TOKEN, 'Content-Type': 'application/json' },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      }),
    remote: (project: string) => `${url.replace('//', `//root:${ROOT_TOKEN}@`)}/root/${project}.git`,
  };
  data = await makeData(making, { name: 'generated', directory, runs: 1 });
  counting = { lines, metrics, waits: Waits.of(service.host) };
}, 600_000);
afterAll(async () => {
  counting?.metrics.stop();
  await service?.stop();
  rmSync(scratch, { recursive: true, force: true });
});

type Figure = (action: Action) => number;
/** Mail is told apart: by far the most expensive, and the users' choice. */
const COLUMNS: readonly (readonly [title: string, Figure])[] = [
  ['read units', ({ readUnits }) => readUnits],
  ['write units', ({ writeUnits }) => writeUnits],
  ['objects read', ({ objectReads }) => objectReads],
  ['GB-seconds', ({ gbSeconds }) => gbSeconds],
  ['mails', ({ mails }) => mails],
  ['$ per million without mail', ({ million, mails }) => million - 1e6 * mails * PRICE.mail],
];

test('the documented table of the mix matches what its requests use', async () => {
  const client = new LoadClient(service.url);
  const mix = { client, data, random: numbers(7) };
  const rate = MIX.reduce((sum, kind) => sum + kind.rate, 0);
  const share = (kind: Kind) => kind.rate / rate;
  const count = (kind: Kind) =>
    counted(service, counting, { like: kind.name, warm: true }, async () => send(kind));
  // Everybody has been here today, which is noted once a day.
  for (const { token } of data.users) expect((await client.api('GET', '/user', token)).status).toBe(200);
  // What a process that has served for a while has in memory.
  for (const kind of MIX) await count(kind);
  const measured = new Map<string, number[]>();
  for (const kind of MIX) {
    const actions: Action[] = [];
    for (let i = 0; i < TIMES; i++) actions.push(await count(kind));
    const mean = (figure: Figure) => actions.reduce((sum, each) => sum + figure(each), 0) / TIMES;
    measured.set(kind.name, [100 * share(kind), ...COLUMNS.map(([, figure]) => mean(figure))]);
  }
  async function send(kind: Kind): Promise<void> {
    expect(await kind.run(mix), kind.name).toBeLessThan(300);
  }
  client.close();
  const all = COLUMNS.map((_, i) =>
    MIX.reduce((sum, kind) => sum + share(kind) * measured.get(kind.name)![i + 1]!, 0),
  );
  measured.set(ALL, [100, ...all]);
  if (process.env['COST_TABLE'] === 'write') write(measured);
  const documented = DOCUMENTED.rows();
  expect([...documented.keys()].sort()).toEqual([...measured.keys()].sort());
  for (const [name, values] of measured)
    for (const [i, [title]] of COLUMNS.entries()) {
      const [value, told] = [values[i + 1]!, documented.get(name)![i + 1]!];
      // Which projects and people are drawn differs from run to run, as they are made several at a time.
      const room = name === ALL ? Math.max(0.1, told * 0.15) : Math.max(4, told * 0.5);
      expect(Math.abs(value - told), `${name}: ${title} ${value}`).toBeLessThanOrEqual(room);
    }
}, 600_000);

function write(measured: ReadonlyMap<string, readonly number[]>): void {
  const byCost = [...measured].sort(([, a], [, b]) => b[0]! * b.at(-1)! - a[0]! * a.at(-1)!);
  DOCUMENTED.write([
    ...tableHead(['request', 'share, %', ...COLUMNS.map(([title]) => title)]),
    ...byCost.map(([name, values]) =>
      tableRow([
        name,
        ...values.map((value, i) =>
          COLUMNS[i - 1]?.[0] === 'GB-seconds' ? value.toFixed(2) : rounded(value),
        ),
      ]),
    ),
  ]);
}
