/** What a deleted merge request leaves in its repository: nothing that keeps commits, whoever was at it meanwhile. */
import { expect, test, vi } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { checkMergeRequest } from '../../../lib/domain/merge-requests/check.ts';
import { forgetVersions } from '../../../lib/domain/merge-requests/forget.ts';
import { lostMergeRef, readMergeRef, writtenMerge } from '../../../lib/domain/merge-requests/merge-ref.ts';
import { openRepository } from '../../../lib/domain/repository/open.ts';
import { MergeRequests } from '../../../lib/store/merge-requests/merge-requests.ts';
import { Outbox } from '../../../lib/store/outbox/outbox.ts';
import { mergeRequestKeys } from '../../../lib/store/row-keys/merge-requests.ts';
import { repositoryPartition } from '../../../lib/store/row-keys/repository.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';

const { world, ok, as, root, someone } = ownWorld();

let made = 0;
/** A branch of a new project, proposed and pushed to three times. */
async function proposed(who: 'owner' | 'developer' = 'owner') {
  const { id } = await ok('owner', 'POST', '/projects', { name: `left-${++made}`, visibility: 'public' });
  const path = `/projects/${id}`;
  await ok('owner', 'POST', `${path}/members`, { user_id: world.ids['developer'], access_level: 30 });
  const first = await write(path, 'main', 'create', 'first');
  const heads = [await write(path, 'topic', 'update', 'one', { start_branch: 'main' })];
  const proposal = { title: 'Topic', source_branch: 'topic', target_branch: 'main' };
  const { iid } = await ok(who, 'POST', `${path}/merge_requests`, proposal);
  for (const content of ['two', 'three']) {
    heads.push(await write(path, 'topic', 'update', content));
    await settled();
  }
  return { id: id as number, iid: iid as number, path, mr: `${path}/merge_requests/${iid}`, first, heads };
}

async function write(path: string, branch: string, action: string, content: string, more: object = {}) {
  const actions = [{ action, file_path: 'a.txt', content }];
  const json = { branch, commit_message: content, actions, ...more };
  return (await ok('owner', 'POST', `${path}/repository/commits`, json)).id as string;
}

/** Refs of merge requests, pinned commits, and rows of versions. */
async function left(projectId: number) {
  const { store } = deps();
  const project = (await store.projects.get(projectId))!;
  const { refs } = await openRepository(deps(), project).refs.all({ prefix: 'refs/merge-requests/' });
  const rows = async (partition: string, prefix: string) =>
    (await store.table.query({ partition, prefix })).items.map(({ sk }) => sk as string);
  return {
    refs: refs.map(({ name }) => name.slice('refs/merge-requests/'.length)),
    pins: (await rows(repositoryPartition(project.repositoryId), 'KEEP#')).map((sk) => sk.slice(5, 45)),
    versions: (await rows(mergeRequestKeys.partition(projectId), 'VERSION#')).length,
  };
}

const NOTHING = { refs: [], pins: [], versions: 0 };

test('its refs, versions and what kept their commits go, and its number is never used again', async () => {
  const { id, iid, path, mr, first, heads } = await proposed();
  const before = await left(id);
  expect(before).toMatchObject({ refs: ['1/head', '1/merge'], versions: 3 });
  expect(before.pins.toSorted()).toEqual([first, heads[0], heads[1]].toSorted());
  await ok('owner', 'DELETE', mr);
  await settled();
  expect(await left(id)).toEqual(NOTHING);
  const again = { title: 'Again', source_branch: 'topic', target_branch: 'main' };
  expect((await ok('owner', 'POST', `${path}/merge_requests`, again)).iid).toBe(iid + 1);
});

test('what others keep of its commits stays: another merge request, a status', async () => {
  const { id, path, mr, first, heads } = await proposed();
  const other = { title: 'Other', source_branch: 'topic', target_branch: 'main' };
  await ok('owner', 'PUT', mr, { state_event: 'close' });
  await ok('owner', 'POST', `${path}/merge_requests`, other);
  await ok('owner', 'POST', `${path}/statuses/${heads[1]}`, { state: 'success', ref: 'topic' });
  await ok('owner', 'DELETE', mr);
  await settled();
  const after = await left(id);
  expect(after).toMatchObject({ refs: ['2/head', '2/merge'], versions: 1 });
  expect(after.pins.toSorted()).toEqual([first, heads[1]].toSorted());
});

test('refs of one that is merged or closed stay', async () => {
  const [closed, merged] = [await proposed(), await proposed()];
  await ok('owner', 'PUT', closed.mr, { state_event: 'close' });
  await ok('owner', 'PUT', `${merged.mr}/merge`);
  await settled();
  for (const { id } of [closed, merged]) expect((await left(id)).refs).toEqual(['1/head', '1/merge']);
});

test('a worker that ends half way is followed by one that goes on, and by one that finds nothing', async () => {
  const { id, iid, mr } = await proposed();
  const held = vi.spyOn(Outbox.prototype, 'deliver').mockResolvedValue();
  await ok('owner', 'DELETE', mr);
  held.mockRestore();
  vi.spyOn(MergeRequests.prototype, 'forgetVersions').mockResolvedValueOnce(true);
  const address = { projectId: id, iid };
  expect(await forgetVersions(deps(), address, 0)).toBe(false);
  expect(await left(id)).toMatchObject({ refs: ['1/head', '1/merge'], versions: 3 });
  for (let n = 0; n < 2; n++) {
    expect(await forgetVersions(deps(), address, 0)).toBe(true);
    expect(await left(id)).toEqual(NOTHING);
  }
});

test('a check that ends after it was deleted writes no merge', async () => {
  const { id, iid, mr } = await proposed();
  const record = (await world.store.mergeRequests.get({ projectId: id, iid }))!;
  const access = { project: (await world.store.projects.get(id))!, level: 0 } as const;
  await ok('owner', 'DELETE', mr);
  await settled();
  const before = await readMergeRef(deps(), access, iid);
  const { verdict } = record;
  const late = await writtenMerge(deps(), access, { record, verdict: verdict!, before }).catch(
    (error: unknown) => error,
  );
  expect(lostMergeRef(late)).toBe(true);
  const whole = { deadline: Date.now() + 60_000, last: true };
  await checkMergeRequest(deps(), { projectId: id, iid }, whole);
  expect((await as('owner', 'GET', `${mr}/merge_ref`)).status).toBe(404);
  expect(await left(id)).toEqual(NOTHING);
});

test('nothing is left of one that goes with its author', async () => {
  const author = await someone();
  const { id } = await ok('owner', 'POST', '/projects', { name: `left-${++made}`, visibility: 'public' });
  const path = `/projects/${id}`;
  await ok('owner', 'POST', `${path}/members`, { user_id: author.id, access_level: 30 });
  await write(path, 'main', 'create', 'first');
  await write(path, 'topic', 'update', 'one', { start_branch: 'main' });
  const proposal = { title: 'Topic', source_branch: 'topic', target_branch: 'main' };
  await world.service.call('POST', `${path}/merge_requests`, { token: author.token, json: proposal });
  await settled();
  expect((await left(id)).refs).toEqual(['1/head', '1/merge']);
  expect((await root('DELETE', `/users/${author.id}?hard_delete=true`)).status).toBe(204);
  await settled();
  expect(await left(id)).toEqual(NOTHING);
});
