import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { removeProject } from '../../../lib/domain/deletion/purge.ts';
import { cachedSettings } from '../../../lib/domain/settings/current.ts';
import { runJob } from '../../../lib/domain/worker/dispatch.ts';
import { HistoryCache } from '../../../lib/git/history/known.ts';
import { type Oid, ZERO_OID } from '../../../lib/git/oid.ts';
import { PackCache } from '../../../lib/git/pack/pack-cache.ts';
import type { RefName } from '../../../lib/git/refname.ts';
import type { ProjectRecord } from '../../../lib/records/projects.ts';
import { repositoryIdOf } from '../../../lib/records/repository-owner.ts';
import type { UserRecord } from '../../../lib/records/users.ts';
import { Outbox, parseMessage } from '../../../lib/store/outbox/outbox.ts';
import { removeLazyRepository } from '../../../lib/store/repository/lazy-removal.ts';
import { GitObjects } from '../../../lib/store/repository/pack-objects.ts';
import { writeRefTable } from '../../../lib/store/repository/ref-table-writer.ts';
import { removeRepository, WRITERS_GONE_MS } from '../../../lib/store/repository/removal.ts';
import { refTableKey } from '../../../lib/store/row-keys/repository.ts';
import { type Data, openData } from '../../crash/data.ts';
import { createProject, newUser } from '../table/store-fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'lemnos-removal-'));
let data: Data;
let owner: UserRecord;
let count = 0;
beforeAll(async () => {
  data = await openData(folder);
});
beforeEach(async () => {
  owner = await data.store.users.create(newUser(`owner${count++}`));
});
afterAll(async () => {
  await data[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const SOON = () => Date.now() + 60_000;
const oid = (n: number) => n.toString(16).padStart(40, '0') as Oid;
const branch = (n: number) => `refs/heads/b${n}` as RefName;
const deps = (now = new Date()) => ({
  store: data.store,
  packs: new PackCache(),
  histories: new HistoryCache(),
  settings: cachedSettings(data.store.settings, data.store.environment),
  environment: data.store.environment,
  now: () => now,
});

/** Sort keys of all rows, in any partition, that mention these. */
async function rowsAbout(...texts: string[]): Promise<string[]> {
  const found: string[] = [];
  let ExclusiveStartKey: Record<string, never> | undefined;
  do {
    const TableName = data.store.environment.tableName;
    const page = await data.clients.dynamodb.send(
      new ScanCommand({ TableName, ...(ExclusiveStartKey === undefined ? {} : { ExclusiveStartKey }) }),
    );
    for (const item of page.Items ?? []) {
      const key = `${item['pk']!.S} ${item['sk']!.S}`;
      if (texts.some((text) => key.includes(text))) found.push(key);
    }
    ExclusiveStartKey = page.LastEvaluatedKey as typeof ExclusiveStartKey;
  } while (ExclusiveStartKey !== undefined);
  return found;
}

async function objectsOf(project: ProjectRecord): Promise<readonly string[]> {
  return (await data.store.blobs.list(`networks/${project.repositoryId}/`)).keys;
}

/** With members, search rows, refs as rows and in a table, and packs. */
async function fullProject(path: string): Promise<ProjectRecord> {
  const { store } = data;
  const project = await createProject(store, owner, path);
  const member = await store.users.create(newUser(`member-of-${path}-${count}`));
  await store.members.add({
    source: { kind: 'project', id: project.id },
    userId: member.id,
    accessLevel: 30,
    createdAt: new Date().toISOString(),
    expiresAt: null,
    createdById: owner.id,
  });
  await store.search.index('project', project.id, async () => [project.name, project.path]);
  const refs = store.repositories.open(project.repositoryId);
  const objects = new GitObjects(store.blobs, refs, project.repositoryId);
  const content = { kind: 'bytes', pack: Buffer.from('pack'), index: Buffer.from('index') } as const;
  const pack = await objects.newPack(content, { source: 'receive', objectCount: 1 });
  const updates = Array.from({ length: 200 }, (_, i) => ({
    name: branch(i),
    from: ZERO_OID,
    to: oid(i + 1),
  }));
  await refs.compareAndSwap(updates, { packs: [pack] });
  await refs.compareAndSwap([{ name: branch(999), from: ZERO_OID, to: oid(1) }]);
  await objects.newPack(content, { source: 'receive', objectCount: 1 });
  return project;
}

const deleteJob = (project: ProjectRecord, id = 'one') => ({
  id,
  type: 'project.delete',
  body: { projectId: project.id, repositoryId: project.repositoryId },
});

test('a deleted project leaves nothing behind once the job and the sweep a day later have run', async () => {
  const { store } = data;
  const project = await fullProject('doomed');
  const kept = await fullProject('spared');
  const names = [`PROJECT#${String(project.id).padStart(12, '0')}`, project.repositoryId];
  const grams = () => rowsAbout('GRAM#project#3:doo');
  expect(await objectsOf(project)).toHaveLength(2);
  expect(await grams()).toHaveLength(1);
  const before = await rowsAbout(`PROJECT#${String(kept.id).padStart(12, '0')}`, kept.repositoryId);

  await store.projects.remove(project);
  await runJob(deps(), deleteJob(project));
  expect(await objectsOf(project)).toEqual([]);
  expect(await grams()).toEqual([]);
  // A writer may still be writing that table: its row refers to it until no writer can.
  const left = await rowsAbout(...names);
  expect(left.every((key) => key.includes('REFTABLES#'))).toBe(true);

  // A write that was in progress, and the same message a second time.
  await new GitObjects(
    store.blobs,
    store.repositories.open(project.repositoryId),
    project.repositoryId,
  ).newPack(
    { kind: 'bytes', pack: Buffer.from('late'), index: Buffer.from('late') },
    { source: 'receive', objectCount: 1 },
  );
  await runJob(deps(), deleteJob(project));
  const later = Date.now() + WRITERS_GONE_MS;
  await store.table.update({
    update: refTableKey(project.repositoryId, left[0]!.split('REFTABLES#')[1]!),
    set: { writtenAt: new Date(Date.now() - WRITERS_GONE_MS).toISOString() },
  });
  expect(await sentBy(new Date(later - 60_000))).not.toContainEqual(sweep(project));
  expect(await sentBy(new Date(later + 60_000))).toContainEqual(sweep(project));
  await runJob(deps(), { id: 'two', ...sweep(project) });
  expect(await objectsOf(project)).toEqual([]);
  expect(await rowsAbout(...names)).toEqual([]);

  expect(await rowsAbout(`PROJECT#${String(kept.id).padStart(12, '0')}`, kept.repositoryId)).toEqual(before);
  expect(await objectsOf(kept)).toHaveLength(2);
});

const sweep = (project: ProjectRecord) => ({
  type: 'repository.sweep',
  body: { repositoryId: project.repositoryId },
});

/** The messages that a sweep at that time sends. */
async function sentBy(at: Date): Promise<{ type: string; body: unknown }[]> {
  const sent: { type: string; body: unknown }[] = [];
  const outbox = new Outbox(data.store.table, {
    async send(_queue, messages) {
      for (const message of messages) {
        const { type, body } = parseMessage(message.body)!;
        sent.push({ type, body });
      }
    },
  });
  await outbox.sweep(at, 0);
  return sent;
}

test('an interrupted removal continues where it stopped, and deletes the guards last', async () => {
  const { store } = data;
  const project = await fullProject('interrupted');
  await store.projects.remove(project);
  // Each run ends at its first step after the deadline.
  expect(await removeRepository(store, project, Date.now() - 1)).toBe(false);
  expect(await objectsOf(project)).toHaveLength(2);
  const rows = await rowsAbout(project.repositoryId);
  expect(rows.filter((key) => key.includes(' GUARD#'))).toHaveLength(8);
  await Promise.all([1, 2, 3].map(() => removeRepository(store, project, SOON())));
  expect(await objectsOf(project)).toEqual([]);
  expect((await rowsAbout(project.repositoryId)).every((key) => key.includes('REFTABLES#'))).toBe(true);
});

test('a job without time left enqueues another', async () => {
  const { store } = data;
  const project = await fullProject('slow');
  await store.projects.remove(project);
  await sentBy(new Date());
  expect(await removeProject(deps(), deleteJob(project).body, Date.now() - 1)).toBe(false);
  expect(await store.projects.getEvenDeleted(project.id)).toBeDefined();
  expect(await removeProject(deps(), deleteJob(project).body, SOON())).toBe(true);
  expect(await store.projects.getEvenDeleted(project.id)).toBeUndefined();
});

test('a message never removes rows of a project that exists or of an open repository', async () => {
  const { store } = data;
  const project = await fullProject('alive');
  const gone = await fullProject('gone');
  await store.projects.remove(gone);
  const before = await rowsAbout(project.repositoryId);
  await expect(runJob(deps(), deleteJob(project))).rejects.toThrow('is not deleted');
  await expect(
    removeProject(deps(), { projectId: gone.id, repositoryId: project.repositoryId }, SOON()),
  ).rejects.toThrow('is not closed');
  await expect(runJob(deps(), { id: 'x', type: 'user.delete', body: { userId: owner.id } })).rejects.toThrow(
    'is not removed',
  );
  expect(await rowsAbout(project.repositoryId)).toEqual(before);
  expect(await objectsOf(project)).toHaveLength(2);
});

test('chunks that a crashing writer adds to a ref table are found by the later sweep', async () => {
  const { store } = data;
  const project = await fullProject('frozen');
  const { repositoryId } = project;
  await store.projects.remove(project);
  const yesterday = new Date(Date.now() - WRITERS_GONE_MS);
  await writeRefTable(store.table, repositoryId, 'late', [[{ name: branch(1), oid: oid(1) }]]);
  await removeRepository(store, project, SOON());
  await writeRefTable(store.table, repositoryId, 'late', [[{ name: branch(1), oid: oid(1) }]], yesterday);
  for (const key of await rowsAbout(repositoryId)) {
    const [, id] = key.split('REFTABLES#');
    const writtenAt = yesterday.toISOString();
    if (id !== undefined)
      await store.table.update({ update: refTableKey(repositoryId, id), set: { writtenAt } });
  }
  await removeRepository(store, project, SOON());
  expect(await rowsAbout(repositoryId)).toEqual([]);
});

test('tokens, memberships and personal projects of a removed user are removed too', async () => {
  const { store } = data;
  const leaver = await store.users.create(newUser('leaver'));
  const foreign = await fullProject('foreign');
  const own = await createProject(store, leaver, 'own');
  const token = await store.tokens.create({
    userId: leaver.id,
    name: 't',
    scopes: ['api'],
    expiresAt: null,
    hash: 'a'.repeat(64),
  });
  const added = { accessLevel: 30, createdAt: '', expiresAt: null, createdById: null } as const;
  await store.members.add({
    source: { kind: 'project', id: foreign.id },
    userId: leaver.id,
    ...added,
  });
  await store.users.remove((await store.users.get(leaver.id))!);
  expect(await store.projects.get(own.id)).toBeDefined();

  const now = new Date();
  const job = { id: 'u', type: 'user.delete', body: { userId: leaver.id } };
  await runJob(deps(now), job);
  await runJob(deps(now), job);
  expect(await store.tokens.byHash(token.hash)).toBeUndefined();
  expect(await store.tokens.get(token.id)).toBeUndefined();
  expect(await rowsAbout(`MEMBER#${String(leaver.id).padStart(12, '0')}`)).toEqual([]);
  expect(await store.projects.get(own.id)).toBeUndefined();
  const sent = await sentBy(new Date(now.getTime() + WRITERS_GONE_MS + 60_000));
  expect(sent).toContainEqual({ type: 'user.delete', body: { userId: leaver.id, last: true } });
  expect(sent).toContainEqual({
    type: 'project.delete',
    body: { projectId: own.id, repositoryId: own.repositoryId },
  });
});

describe('content by a removed user', () => {
  async function written(name: string) {
    const { store } = data;
    const writer = await store.users.create(newUser(name));
    const project = await createProject(store, owner, `of-${name}`);
    const { id: userId, username } = writer;
    const author = { id: userId, username, name: writer.name };
    const at = new Date().toISOString();
    const commit = 'c'.repeat(40);
    const noteable = { kind: 'commit', id: commit } as const;
    const id = await store.notes.nextId();
    const common = { projectId: project.id, createdAt: at, updatedAt: at, author };
    await store.notes.create({ ...common, id, noteable, body: 'said', line: null });
    const pipeline = {
      ...common,
      ...(await store.pipelines.nextPipeline(project.id)),
      sha: commit,
      ref: 'main',
      source: 'external',
      status: 'success',
      states: { success: 1 },
      statuses: 1,
      startedAt: null,
      finishedAt: null,
      version: 1,
    } as const;
    const status = {
      ...common,
      id: await store.reportedStatuses.nextId(),
      pipelineId: pipeline.id,
      sha: commit,
      ref: 'main',
      stage: 'external',
      name: 'build',
      state: 'success',
      targetUrl: null,
      description: null,
      coverage: null,
      startedAt: null,
      finishedAt: null,
    } as const;
    await store.reportedStatuses.write({ pipeline, previous: undefined, status, current: undefined });
    const page = { page: 1, perPage: 10 };
    return {
      writer,
      author,
      notes: async () => (await store.notes.list(project.id, noteable, page)).items,
      statuses: async () => {
        const { items } = await store.commitStatuses.page(project.id, commit, { all: true }, page);
        return items.map((each) => (each.kind === 'reported' ? each.status : each.job));
      },
      pipeline: () => store.pipelines.newest(project.id, commit),
    };
  }
  const removed = async (writer: UserRecord, hard: boolean) => {
    await data.store.users.remove(writer, { hard });
    const job = { id: 'w', type: 'user.delete', body: { userId: writer.id, hard } };
    await Promise.all([runJob(deps(), job), runJob(deps(), job)]);
    await runJob(deps(), job);
  };

  test('becomes content by the ghost user, and no longer names its author', async () => {
    const { writer, author, notes, statuses, pipeline } = await written('poet');
    expect(await notes()).toMatchObject([{ author, body: 'said' }]);
    await removed(writer, false);
    const { id, username, name } = await data.store.users.ghost();
    const ghost = { id, username, name };
    expect(await notes()).toMatchObject([{ author: ghost, body: 'said' }]);
    expect(await statuses()).toMatchObject([{ author: ghost, name: 'build' }]);
    expect(await pipeline()).toMatchObject({ author: ghost });
    expect(await rowsAbout(`USER#${String(writer.id).padStart(12, '0')}`)).toEqual([]);
  });

  test('is deleted if the user is hard-deleted, except for commit statuses', async () => {
    const { writer, notes, statuses } = await written('vandal');
    await removed(writer, true);
    const { id } = await data.store.users.ghost();
    expect([await notes(), await statuses()]).toMatchObject([[], [{ author: { id } }]]);
  });
});

describe('the repository of a wiki', () => {
  /** Types of the messages that wait and name the repository. */
  const promisesAbout = async (repositoryId: string) => {
    const TableName = data.store.environment.tableName;
    const { Items = [] } = await data.clients.dynamodb.send(new ScanCommand({ TableName }));
    return Items.filter(
      ({ pk, body }) => pk!.S!.startsWith('OUTBOX#') && body?.M?.['repositoryId']?.S === repositoryId,
    ).map(({ type }) => type!.S);
  };
  const made = async (id: number) => {
    const wiki = { kind: 'project-wiki', id } as const;
    const repositoryId = repositoryIdOf(wiki);
    const refs = data.store.repositories.open(repositoryId);
    const objects = new GitObjects(data.store.blobs, refs, repositoryId);
    const pack = await objects.newPack(
      { kind: 'bytes', pack: Buffer.from('pack'), index: Buffer.from('index') },
      { source: 'insert', objectCount: 1 },
    );
    const update = { name: branch(1), from: ZERO_OID, to: oid(1), committed: 1 };
    await refs.begin([update], { packs: [pack] }, { headBranch: 'main' });
    return { wiki, repositoryId };
  };

  test('is closed and removed, with its bytes, and swept once more when late writers are gone', async () => {
    const { wiki, repositoryId } = await made(9001);
    const late = data.store.repositories.open(repositoryId);
    await late.all();
    expect(await removeLazyRepository(data.store, wiki, SOON())).toBe(true);
    expect(await rowsAbout(repositoryId)).toEqual([]);
    const sweeps = await promisesAbout(repositoryId);
    expect(sweeps).toEqual(['repository.sweep']);
    expect((await data.store.blobs.list(`networks/${repositoryId}/`)).keys).toEqual([]);
    await expect(late.compareAndSwap([{ name: branch(2), from: ZERO_OID, to: oid(2) }])).rejects.toThrow();
    expect(await removeLazyRepository(data.store, wiki, SOON())).toBe(true);
    expect(await rowsAbout(repositoryId)).toEqual([]);
    expect(await promisesAbout(repositoryId)).toEqual(sweeps);
  });

  test('that was never written to leaves nothing', async () => {
    const wiki = { kind: 'group-wiki', id: 9002 } as const;
    expect(await removeLazyRepository(data.store, wiki, SOON())).toBe(true);
    expect(await rowsAbout(repositoryIdOf(wiki))).toEqual([]);
  });

  test('goes with its project', async () => {
    const project = await createProject(data.store, owner, 'with-a-wiki');
    const { repositoryId } = await made(project.id);
    await data.store.projects.remove(project);
    const { repositoryId: code } = project;
    expect(await removeProject(deps(), { projectId: project.id, repositoryId: code }, SOON())).toBe(true);
    expect(await rowsAbout(`REPO#${repositoryId}`)).toEqual([]);
  });
});
