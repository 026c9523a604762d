/** The merge that `git fetch` gets: made by checks, of the two heads that it says. */
import { expect, test, vi } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { checkMergeRequest } from '../../../lib/domain/merge-requests/check.ts';
import { mergeRef, readMergeRef, writtenMerge } from '../../../lib/domain/merge-requests/merge-ref.ts';
import { codeOf } from '../../../lib/domain/repository/read.ts';
import { RefConflict } from '../../../lib/git/ports.ts';
import { Outbox } from '../../../lib/store/outbox/outbox.ts';
import { projectKey } from '../../../lib/store/row-keys/projects.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';

const { world, as } = ownWorld();

let made = 0;
/** A project of the owner with `main` and `topic`, which a developer proposes. */
async function proposed(content = 'topic') {
  const name = `tried-${++made}`;
  const { body } = await as('owner', 'POST', '/projects', { name, visibility: 'public' });
  const path = `/projects/${body.id}`;
  const member = { user_id: world.ids['developer'], access_level: 30 };
  await as('owner', 'POST', `${path}/members`, member);
  const main = await write(path, 'main', 'create', 'first');
  const head = await write(path, 'topic', 'update', content, { start_branch: 'main' });
  const proposal = { title: 'Topic', source_branch: 'topic', target_branch: 'main' };
  const { iid } = (await as('developer', 'POST', `${path}/merge_requests`, proposal)).body;
  return { id: body.id as number, iid: iid as number, path, mr: `${path}/merge_requests/${iid}`, main, head };
}
type Proposed = Awaited<ReturnType<typeof proposed>>;

/** Writes a file. @returns the commit */
async function write(path: string, branch: string, action: string, content: string, more: object = {}) {
  const { file_path = 'a.txt', ...rest } = more as { readonly file_path?: string };
  const actions = [{ action, file_path, content: `${content}\n` }];
  const json = { branch, commit_message: content, actions, ...rest };
  const { status, body } = await as('owner', 'POST', `${path}/repository/commits`, json);
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id as string;
}

async function ground({ id, iid }: Pick<Proposed, 'id' | 'iid'>) {
  const project = (await world.store.projects.get(id))!;
  const access = { project, level: 0 } as const;
  return {
    access,
    git: codeOf(deps(), access),
    record: (await world.store.mergeRequests.get({ projectId: id, iid }))!,
  };
}

/** The merge, as the repository has it. */
async function merge(of: Proposed) {
  const { git } = await ground(of);
  const written = await git.ref(mergeRef(of.iid));
  const [commit] = written === undefined ? [] : await git.log({ tips: [written.oid], limit: 1 });
  return { written, parents: commit?.parents, author: commit?.author.name };
}

/** Does something of which no worker hears. */
async function unheard<T>(work: () => Promise<T>): Promise<T> {
  const held = vi.spyOn(Outbox.prototype, 'deliver').mockResolvedValue();
  try {
    return await work();
  } finally {
    held.mockRestore();
  }
}

test('is there once a worker has checked a new one, by its author, and follows both branches', async () => {
  const of = await proposed();
  await settled();
  expect(await merge(of)).toMatchObject({ parents: [of.main, of.head], author: 'developer' });
  const main = await write(of.path, 'main', 'create', 'm', { file_path: 'm.txt' });
  await settled();
  expect((await merge(of)).parents).toEqual([main, of.head]);
  const head = await write(of.path, 'topic', 'update', 'topic again');
  await settled();
  expect((await merge(of)).parents).toEqual([main, head]);
  expect((await as('owner', 'GET', `${of.mr}/merge_ref`)).body.commit_id).toBe(
    (await merge(of)).written!.oid,
  );
});

test('is not there for conflicts, and stays that of the heads that could be merged', async () => {
  const of = await proposed();
  await settled();
  const before = await merge(of);
  await write(of.path, 'main', 'update', 'rival');
  await settled();
  expect((await as('owner', 'GET', of.mr)).body.merge_status).toBe('cannot_be_merged');
  await settled();
  expect(await merge(of)).toEqual(before);
  await as('owner', 'POST', `${of.path}/repository/branches?branch=rival&ref=${of.main}`);
  await write(of.path, 'rival', 'update', 'rival of both');
  const json = { title: 'Rival', source_branch: 'rival', target_branch: 'main' };
  const { iid } = (await as('owner', 'POST', `${of.path}/merge_requests`, json)).body;
  await settled();
  expect((await merge({ ...of, iid })).written).toBeUndefined();
});

test('is made too where a reader was the first to find that it can be merged, and is nobody’s activity', async () => {
  const of = await unheard(() => proposed());
  expect((await merge(of)).written).toBeUndefined();
  const long = { lastActivityAt: '2020-01-01T00:00:00.000Z' };
  await world.store.table.update({ update: projectKey(of.id), set: long });
  expect((await as('owner', 'GET', of.mr)).status).toBe(200);
  await settled();
  expect((await merge(of)).parents).toEqual([of.main, of.head]);
  expect(await world.store.projects.get(of.id)).toMatchObject(long);
});

test('is not made for one that is closed, or of an archived project', async () => {
  const [closed, archived] = [await unheard(() => proposed()), await unheard(() => proposed())];
  await as('developer', 'PUT', closed.mr, { state_event: 'close' });
  await as('owner', 'POST', `${archived.path}/archive`);
  for (const of of [closed, archived]) {
    const check = () =>
      checkMergeRequest(
        deps(),
        { projectId: of.id, iid: of.iid },
        { deadline: Date.now() + 60_000, last: true },
      );
    await check();
    expect((await as('owner', 'GET', of.mr)).body.merge_status).toBe('can_be_merged');
    await check();
    expect((await merge(of)).written).toBeUndefined();
  }
});

test('checks that come twice, and at once, write one merge', async () => {
  const of = await unheard(() => proposed());
  const check = () =>
    checkMergeRequest(
      deps(),
      { projectId: of.id, iid: of.iid },
      { deadline: Date.now() + 60_000, last: false },
    );
  await Promise.all([check(), check(), check()]);
  const { written, parents } = await merge(of);
  expect(parents).toEqual([of.main, of.head]);
  await check();
  expect((await merge(of)).written).toEqual(written);
});

test('who has read heads that have moved since never writes over the merge of later ones', async () => {
  const of = await proposed();
  await settled();
  const { access, record } = await ground(of);
  const before = await readMergeRef(deps(), access, of.iid);
  const main = await write(of.path, 'main', 'create', 'm', { file_path: 'm.txt' });
  const aside = { file_path: 'o.txt', start_branch: 'main' };
  const other = await write(of.path, 'other', 'create', 'o', aside);
  await settled();
  const writing = (targetSha: string, headSha: string) =>
    writtenMerge(deps(), access, {
      record,
      verdict: { ...record.verdict!, targetSha, headSha },
      before,
    });
  // Of these heads it was there.
  expect(await writing(of.main, of.head)).toBe(before.written!.oid);
  await expect(writing(of.head, other)).rejects.toBeInstanceOf(RefConflict);
  expect((await merge(of)).parents).toEqual([main, of.head]);
});
