/** Maintenance writes the commit-graph: after one large push, again only when needed, and despite failures. */
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { commitChanges } from '../../../lib/git/commit-changes.ts';
import { CommitGraphFile } from '../../../lib/git/commit-graph/read.ts';
import { History } from '../../../lib/git/history.ts';
import { type Oid, ZERO_OID } from '../../../lib/git/oid.ts';
import type { RefName } from '../../../lib/git/refname.ts';
import { derivedPrefix } from '../../../lib/store/repository/derived-files.ts';
import { DAY, type Ground, HOUR, openYard, type Yard } from './maintenance-fixture.ts';

let yard: Yard;
let take: Yard['s3']['faults']['take'];
beforeAll(async () => {
  yard = await openYard(1);
  take = yard.s3.faults.take;
});
afterEach(() => {
  yard.dynamo.faults.clear();
  yard.s3.faults.clear();
  yard.s3.faults.take = take;
  yard.dynamo.onOperation = undefined;
  vi.restoreAllMocks();
});
afterAll(() => yard[Symbol.asyncDispose]());

const main = 'refs/heads/main' as RefName;
const person = { name: 'A', email: 'a@example.com', seconds: 1_700_000_000, timezone: '+0000' };
let files = 0;

/** One commit of many small files. */
async function large(ground: Ground, count: number): Promise<Oid> {
  const ports = ground.open();
  const tip = (await ports.refs.get([main])).get(main)?.oid;
  // As in a push, which reads the commits it builds on.
  await ports.store.packs();
  const { commit } = await commitChanges(ports, {
    branch: main,
    expected: tip ?? ZERO_OID,
    ...(tip === undefined ? {} : { parent: tip }),
    force: false,
    actions: Array.from({ length: count }, () => {
      const file = ++files;
      return { action: 'create' as const, path: `many/${file}`, content: Buffer.from(`text ${file}\n`) };
    }),
    author: person,
    committer: person,
    message: 'many\n',
  });
  return commit;
}

/** Commits in the graph that is listed; undefined when none is. */
async function graphed(ground: Ground): Promise<number | undefined> {
  const { store } = ground.open();
  return store.run((objects) => {
    const derived = objects.derived('commit-graph');
    return derived?.attempt(() => derived.parsed((file) => new CommitGraphFile(file)).count);
  });
}

const graphs = async (ground: Ground) =>
  (await yard.store.blobs.list(derivedPrefix(ground.id))).keys.filter((key) => key.endsWith('.commit-graph'))
    .length;

const asked = async (ground: Ground, now?: Date) =>
  (await yard.sentBy(now)).filter(({ body }) => body['repositoryId'] === ground.id);

test('a commit-graph is written after a large push, not after small ones, and again after enough growth', async () => {
  const ground = await yard.repository();
  await large(ground, 1100);
  expect(await asked(ground)).toEqual([{ type: 'repository.maintain', body: { repositoryId: ground.id } }]);
  await ground.maintain();
  expect(await graphed(ground)).toBe(1);

  const operations: string[] = [];
  yard.dynamo.onOperation = ({ operation }) => void operations.push(operation);
  await ground.maintain();
  expect(operations.filter((name) => !/^(Get|BatchGet|Query)/.test(name))).toEqual([]);
  yard.dynamo.onOperation = undefined;
  await ground.commits(3);
  expect(await asked(ground)).toEqual([]);

  await large(ground, 600);
  expect(await asked(ground)).toHaveLength(1);
  await ground.maintain();
  expect(await graphed(ground)).toBe(5);

  // The previous one is deleted a day later, by a scheduled visit.
  expect(await graphs(ground)).toBe(2);
  for (let day = 1; day < 4; day++) {
    const now = new Date(Date.now() + day * DAY + HOUR);
    for (const _ of await asked(ground, now)) await ground.maintain(now);
  }
  expect(await graphs(ground)).toBe(1);
  const { store, refs } = ground.open();
  const tip = (await refs.get([main])).get(main)!.oid;
  expect(await new History(store).count({ tips: [tip], path: 'many' as never }, 100)).toBe(2);
});

test.each([
  ['the bytes are not stored', { put: { kind: 'error', code: 'InternalError' } }],
  ['the response to storing the bytes is lost', { put: { kind: 'lostAnswer' } }],
  ['the file is not listed', { list: { fail: 'unreachable' } }],
  ['the response to listing the file is lost', { list: { loseAnswer: true } }],
] as const)('when %s, results stay the same and a later run writes the commit-graph', async (_, fault) => {
  const ground = await yard.repository();
  const tip = await large(ground, 1100);
  let struck = 0;
  yard.s3.faults.take = (operation, subject) => {
    if (struck > 0 || operation !== 'PutObject' || !subject?.endsWith('.commit-graph')) return undefined;
    struck++;
    if ('put' in fault) return fault.put;
    yard.dynamo.faults.next('TransactWriteItems', fault.list);
    return undefined;
  };
  await ground.maintain().catch(() => {});
  expect(struck).toBe(1);
  yard.dynamo.faults.clear();
  yard.s3.faults.take = take;
  expect(await new History(ground.open().store).count({ tips: [tip] }, 100)).toBe(1);
  await ground.maintain(new Date(Date.now() + HOUR));
  expect(await graphed(ground)).toBe(1);
});
