/** What is made in bulk is, row by row, what the real creations make. */
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { TableClient } from '../../lib/store/table/table-client.ts';
import { fromWire } from '../../lib/store/table/wire.ts';
import { BulkTable } from '../harness/bulk-table.ts';
import { type Makers, makersOf } from '../harness/makers.ts';
import { newProject, newUser, openTestStore, type TestStore } from '../store/table/store-fixture.ts';

const now = new Date('2026-01-02T03:04:05Z');

async function make(makers: Makers): Promise<void> {
  const { users, groups, projects, members, stars } = makers;
  const ada = await users.create(newUser('ada'), { now });
  const bob = await users.create(newUser('bob', { lastActivityOn: '2026-01-01' }), { now });
  const about = { description: '', creatorId: ada.id, settings: {}, visibility: 'internal' } as const;
  const top = await groups.create({ ...about, name: 'Top', path: 'top' }, { ownerId: ada.id, now });
  const inner = await groups.create(
    { ...about, name: 'Inner', path: 'inner' },
    { parent: top, ownerId: ada.id, now },
  );
  await members.add({
    source: { kind: 'group', id: inner.id },
    userId: bob.id,
    accessLevel: 30,
    createdAt: now.toISOString(),
    expiresAt: null,
    createdById: ada.id,
  });
  const own = await projects.create(newProject(ada, 'own', 'public'), {
    headBranch: 'main',
    owner: ada,
    now,
  });
  await projects.create(newProject(ada, 'second'), { headBranch: 'main', owner: ada, now });
  const place = {
    namespaceId: inner.id,
    namespacePath: inner.fullPath,
    namespaceName: inner.fullName,
    namespaceKind: 'group',
    ancestorIds: [top.id, inner.id],
  } as const;
  const common = await projects.create(newProject(ada, 'common', 'private', place), {
    headBranch: 'main',
    parent: inner,
    now,
  });
  await stars.add({ projectId: own.id, userId: bob.id, createdAt: now.toISOString() });
  for (const { id, name, username } of [ada, bob]) await makers.index('user', id, [name, username]);
  for (const { id, name, path } of [top, inner]) await makers.index('group', id, [name, path]);
  for (const { id, name, path } of [own, common]) await makers.index('project', id, [name, path]);
}

/** Every row except outbox messages, without what differs each time: ULIDs, stamps of single writes. */
async function rowsOf({ client }: TestStore): Promise<string[]> {
  const { Items: items = [] } = await client.send(new ScanCommand({ TableName: 'test' }));
  return items
    .map((item) => fromWire(item as never) as Record<string, unknown>)
    .filter(({ pk }) => !String(pk).startsWith('OUTBOX#'))
    .map(({ w: _, ...row }) =>
      JSON.stringify(Object.fromEntries(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))),
    )
    .map((row) => row.replaceAll(/\b[0-9A-HJKMNP-TV-Z]{26}\b/g, 'ULID'))
    .sort();
}

test('rows created in bulk equal those of the real creations', async () => {
  const [real, bulk] = await Promise.all([openTestStore(), openTestStore()]);
  await make(makersOf(real.store.table));
  const table = new BulkTable(new TableClient(bulk.client), 'test', bulk.dynamo);
  const makers = makersOf(table);
  await make(makers);
  await table.flush();
  const [expected, found] = [await rowsOf(real), await rowsOf(bulk)];
  expect(expected.length).toBeGreaterThan(100);
  expect(found).toEqual(expected);
  await Promise.all([real.close(), bulk.close()]);
});
