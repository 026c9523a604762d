import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SnippetRecord } from '../../../lib/records/snippets.ts';
import type { UserRecord } from '../../../lib/records/users.ts';
import { VISIBILITIES, type Visibility } from '../../../lib/records/visibility.ts';
import { Stale } from '../../../lib/store/errors.ts';
import { remover } from '../../../lib/store/snippets/remover.ts';
import { createProject, newUser, openTestStore, type TestStore } from '../table/store-fixture.ts';

let opened: TestStore;
let author: UserRecord;
beforeAll(async () => {
  opened = await openTestStore();
  author = await opened.store.users.create(newUser('author'));
});
afterAll(() => opened.close());

const now = new Date('2026-01-02T03:04:05Z');
const later = new Date('2026-01-03T03:04:05Z');

async function create(
  visibility: Visibility,
  { projectId = null, by = author }: { projectId?: number | null; by?: UserRecord } = {},
): Promise<SnippetRecord> {
  const { snippets, table } = opened.store;
  const { id: authorId, username, name } = by;
  const snippet: SnippetRecord = {
    id: await snippets.nextId(),
    projectId,
    title: 'a title',
    description: null,
    visibility,
    author: { id: authorId, username, name },
    branch: 'main',
    files: ['a.txt'],
    createdAt: now.toISOString(),
    updatedAt: now.toISOString(),
    version: 1,
  };
  await table.transact(snippets.creation(snippet, { userAgent: 'curl/8', address: '127.0.0.1' }));
  return snippet;
}

const idsOf = ({ items }: { readonly items: readonly SnippetRecord[] }) => items.map(({ id }) => id);
const first = { page: 1, perPage: 20, count: true } as const;

test('a user’s list has their personal snippets of the visibilities asked for, the newest first, and counts them', async () => {
  const by = await opened.store.users.create(newUser('lister'));
  const made: SnippetRecord[] = [];
  for (const visibility of ['private', 'public', 'internal', 'private'] as const)
    made.push(await create(visibility, { by }));
  const owner = { kind: 'user', id: by.id } as const;
  const { snippets } = opened.store;
  const all = await snippets.page(owner, VISIBILITIES, first);
  expect(idsOf(all)).toEqual(made.map(({ id }) => id).reverse());
  expect(all).toMatchObject({ total: 4, more: false });
  expect(idsOf(await snippets.page(owner, ['public', 'internal'], first))).toEqual([
    made[2]!.id,
    made[1]!.id,
  ]);
  expect(idsOf(await snippets.page(owner, VISIBILITIES, { page: 2, perPage: 3 }))).toEqual([made[0]!.id]);
});

test('a page of the list reads the same whatever is before it in the table', async () => {
  const by = await opened.store.users.create(newUser('prolific'));
  const costOf = async () => {
    opened.reset();
    await opened.store.snippets.page({ kind: 'user', id: by.id }, VISIBILITIES, { page: 1, perPage: 5 });
    return opened.operations.length;
  };
  for (let n = 0; n < 8; n++) await create('private', { by });
  const few = await costOf();
  for (let n = 0; n < 40; n++) await create('private', { by });
  expect(await costOf()).toBe(few);
});

test('the list of public snippets has no private one, none of a project, and follows a change of visibility', async () => {
  const { snippets } = opened.store;
  const project = await createProject(opened.store, author, 'with-snippets');
  const shown = await create('public');
  const hidden = await create('private');
  const inProject = await create('public', { projectId: project.id });
  const ids = async () => idsOf(await snippets.publicPage({ ...first, perPage: 100 }));
  expect(await ids()).toContain(shown.id);
  expect(await ids()).not.toContain(hidden.id);
  expect(await ids()).not.toContain(inProject.id);
  await snippets.change(hidden, { visibility: 'public' }, later);
  await snippets.change(shown, { visibility: 'private' }, later);
  expect(await ids()).toContain(hidden.id);
  expect(await ids()).not.toContain(shown.id);
  expect(await snippets.get(shown.id)).toEqual({
    ...shown,
    visibility: 'private',
    updatedAt: later.toISOString(),
    version: 2,
  });
});

test('of two changes of what was read one is refused, and so is a deletion', async () => {
  const { snippets } = opened.store;
  const before = await create('private');
  await snippets.change(before, { title: 'first' }, later);
  await expect(snippets.change(before, { title: 'second' }, later)).rejects.toBeInstanceOf(Stale);
  await expect(snippets.remove(before, later)).rejects.toBeInstanceOf(Stale);
  expect(await snippets.get(before.id)).toMatchObject({ title: 'first' });
});

test('a snippet of a deleted user or project cannot be created', async () => {
  await expect(create('private', { by: { ...author, id: 999_999 } })).rejects.toThrow('user');
  await expect(create('private', { projectId: 999_999 })).rejects.toThrow('project');
});

test('a measurement counts once for the project of a snippet, and not after a later change', async () => {
  const { snippets, statistics, table } = opened.store;
  const { id: projectId } = await createProject(opened.store, author, 'measured');
  const before = await create('private', { projectId });
  const other = await create('private', { projectId });
  await Promise.all([snippets.measured(before, 100, later), snippets.measured(other, 7, later)]);
  await expect(snippets.measured(before, 100, later)).rejects.toBeInstanceOf(Stale);
  expect(await snippets.total(projectId)).toBe(107);
  const first = (await snippets.get(before.id))!;
  expect(first).toMatchObject({ repositorySize: 100, updatedAt: before.updatedAt });
  await table.transact([snippets.pushed(before.id, ['a.txt', 'b.txt'], later)]);
  await expect(snippets.measured(first, 150, later)).rejects.toBeInstanceOf(Stale);
  const second = (await snippets.get(before.id))!;
  await snippets.measured(second, 90, later);
  await snippets.change((await snippets.get(before.id))!, { title: 'another' }, later);
  expect(await snippets.total(projectId)).toBe(97);
  await expect(snippets.remove(second, later)).rejects.toBeInstanceOf(Stale);
  await snippets.remove((await snippets.get(before.id))!, later);
  await expect(snippets.measured(second, 300, later)).rejects.toBeInstanceOf(Stale);
  expect(await snippets.total(projectId)).toBe(7);
  // A measurement that changes nothing writes nothing.
  opened.reset();
  await snippets.measured((await snippets.get(other.id))!, 7, later);
  expect(opened.operations).toHaveLength(1);
  expect(await statistics.ofProject(projectId)).toBeUndefined();
});

test('the snippets of a project go with it, those of a user with the account; of projects the ghost user has them', async () => {
  const { snippets, users, table } = opened.store;
  const by = await users.create(newUser('leaver'));
  const project = await createProject(opened.store, author, 'kept');
  const deleted = await createProject(opened.store, author, 'deleted');
  const personal = await create('public', { by });
  const inProject = await create('private', { by, projectId: project.id });
  const inDeleted = await create('private', { by, projectId: deleted.id });
  await snippets.measured(inDeleted, 100, later);
  await snippets.measured(inProject, 50, later);
  const deadline = Date.now() + 60_000;
  await remover.ofProject!.run!(opened.store, { id: deleted.id, record: deleted }, deadline);
  expect(await snippets.get(inDeleted.id)).toBeUndefined();
  expect([await snippets.total(deleted.id), await snippets.total(project.id)]).toEqual([0, 50]);
  expect(await snippets.get(personal.id)).toBeDefined();
  const ghost = { id: author.id, username: 'ghost', name: 'Ghost' };
  const user = { userId: by.id, ghost, deleteOwned: { project: nothing, group: nothing } };
  await remover.ofUser!.run!(opened.store, user, deadline);
  for (const { id } of [personal, inProject]) {
    const row = { pk: `SNIPPET#${String(id).padStart(12, '0')}`, sk: 'SNIPPET', what: '' };
    await remover.ofUserRows!.byRow.SNIPPET!(opened.store, row, user);
  }
  expect(await snippets.get(personal.id)).toBeUndefined();
  expect(await snippets.agent(personal.id)).toBeUndefined();
  expect(await snippets.get(inProject.id)).toMatchObject({ author: ghost, repositorySize: 50 });
  expect(await snippets.total(project.id)).toBe(50);
  const outbox = [];
  for (let shard = 0; shard < 16; shard++)
    for await (const row of table.queryAll({ partition: `OUTBOX#${shard}` })) outbox.push(row);
  expect(outbox.filter((row) => row['type'] === 'snippet.remove').map((row) => row['body'])).toEqual(
    expect.arrayContaining([{ snippetId: personal.id }, { snippetId: inDeleted.id }]),
  );
});

const nothing = async () => {};
