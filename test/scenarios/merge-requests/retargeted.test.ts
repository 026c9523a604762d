/** Merge requests to a branch that is merged and removed go where it went. */
import { expect, test, vi } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { retargetChained } from '../../../lib/domain/merge-requests/retarget.ts';
import { Outbox } from '../../../lib/store/outbox/outbox.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { notedOn } from '../../harness/proposals.ts';
import { settled } from '../../harness/settled.ts';

const { service, world, as } = ownWorld();

let made = 0;
/** A project of the owner with `main`, and `topic` that is proposed to it; the maintainer merges. */
async function project() {
  const name = `chained-${++made}`;
  const { body } = await as('owner', 'POST', '/projects', { name, visibility: 'public' });
  const path = `/projects/${body.id}`;
  await as('owner', 'POST', `${path}/members`, { user_id: world.ids['maintainer'], access_level: 40 });
  await commit(path, 'main');
  await commit(path, 'topic', 'main');
  return { id: body.id as number, path, topic: await propose(path, 'topic', 'main') };
}

async function commit(path: string, branch: string, start_branch?: string): Promise<void> {
  const actions = [{ action: 'create', file_path: `${branch}.txt`, content: 'x' }];
  const json = { branch, commit_message: branch, actions, ...(start_branch && { start_branch }) };
  const { status, body } = await as('owner', 'POST', `${path}/repository/commits`, json);
  expect(status, JSON.stringify(body)).toBe(201);
}

/** @returns its number */
async function propose(path: string, source_branch: string, target_branch: string): Promise<number> {
  const json = { title: source_branch, source_branch, target_branch };
  const { status, body } = await as('owner', 'POST', `${path}/merge_requests`, json);
  expect(status, JSON.stringify(body)).toBe(201);
  return body.iid;
}

async function stacked(path: string, names: readonly string[]): Promise<number[]> {
  const iids = [];
  for (const name of names) {
    await commit(path, name, 'topic');
    iids.push(await propose(path, name, 'topic'));
  }
  return iids;
}

async function merge(path: string, iid: number, should_remove_source_branch = true): Promise<void> {
  // Its check may take longer than a request has for it.
  await settled();
  const json = { should_remove_source_branch };
  const { status, body } = await as('maintainer', 'PUT', `${path}/merge_requests/${iid}/merge`, json);
  expect([status, body.state], JSON.stringify(body)).toEqual([200, 'merged']);
}

const targets = async (path: string, iids: readonly number[]) =>
  Promise.all(
    iids.map(async (iid) => (await as('owner', 'GET', `${path}/merge_requests/${iid}`)).body.target_branch),
  );

test('one to a branch that is merged and removed goes to the target of that, as who merged, and can be merged', async () => {
  const { id, path, topic } = await project();
  const [upon] = await stacked(path, ['upon']);
  await merge(path, topic);
  await settled();
  const { body } = await as('owner', 'GET', `${path}/merge_requests/${upon}`);
  expect(body).toMatchObject({ state: 'opened', target_branch: 'main', merge_status: 'can_be_merged' });
  expect(await notedOn(id, upon!)).toEqual([
    ['deleted the `topic` branch. This merge request now targets the `main` branch', 'maintainer'],
  ]);
  const { changes } = (await as('owner', 'GET', `${path}/merge_requests/${upon}/changes`)).body;
  expect(changes.map(({ new_path }: { new_path: string }) => new_path)).toEqual(['upon.txt']);
  await merge(path, upon!);
});

test('an automatic merge is one into the branch that it was asked for: it ends where another one is chosen', async () => {
  const { id, path, topic } = await project();
  const iids = await stacked(path, ['upon', 'chosen']);
  for (const iid of iids) {
    const at = `${path}/merge_requests/${iid}`;
    const { sha, source_branch: ref } = (await as('owner', 'GET', at)).body;
    await as('owner', 'POST', `${path}/statuses/${sha}`, { state: 'running', ref });
    const { body } = await as('maintainer', 'PUT', `${at}/merge`, { merge_when_pipeline_succeeds: true });
    expect(body).toMatchObject({ state: 'opened', merge_when_pipeline_succeeds: true });
  }
  await as('owner', 'PUT', `${path}/merge_requests/${iids[1]}`, { target_branch: 'main' });
  await merge(path, topic);
  await settled();
  for (const [i, who] of (['maintainer', 'owner'] as const).entries()) {
    const { body } = await as('owner', 'GET', `${path}/merge_requests/${iids[i]}`);
    expect(body).toMatchObject({ target_branch: 'main', merge_when_pipeline_succeeds: false });
    const aborted = 'aborted the automatic merge because target branch was changed';
    expect(await notedOn(id, iids[i]!)).toContainEqual([aborted, who]);
  }
});

test('stays where the branch is kept', async () => {
  const { path, topic } = await project();
  const iids = await stacked(path, ['upon']);
  await merge(path, topic, false);
  await settled();
  expect(await targets(path, iids)).toEqual(['topic']);
});

test('of five the oldest four go, as in the product, also where the message comes twice', async () => {
  const { id, path, topic } = await project();
  const iids = await stacked(path, ['one', 'two', 'three', 'four', 'five']);
  await merge(path, topic);
  await settled();
  const expected = ['main', 'main', 'main', 'main', 'topic'];
  expect(await targets(path, iids)).toEqual(expected);
  const chained = { projectId: id, iids: iids.slice(0, 4), branch: 'topic', targetBranch: 'main' };
  await retargetChained(deps(), { ...chained, actorId: world.ids['maintainer']!, baseUrl: service.url });
  expect(await targets(path, iids)).toEqual(expected);
  expect(await notedOn(id, iids[0]!)).toHaveLength(1);
});

test('one that cannot go there stays, and holds no other up', async () => {
  const { path, topic } = await project();
  const [there, upon] = await stacked(path, ['there', 'upon']);
  // Another one of its branch is open to the target; and one is from the target itself.
  await propose(path, 'there', 'main');
  await commit(path, 'more', 'main');
  const back = await propose(path, 'main', 'topic');
  await merge(path, topic);
  await settled();
  expect(await targets(path, [there!, upon!, back])).toEqual(['topic', 'main', 'topic']);
});

test('stays where the branch is there again by then, and for who may not change it', async () => {
  const { id, path, topic } = await project();
  const iids = await stacked(path, ['upon']);
  const held = vi.spyOn(Outbox.prototype, 'deliver').mockResolvedValue();
  await merge(path, topic);
  held.mockRestore();
  const chained = { projectId: id, iids, branch: 'topic', targetBranch: 'main', baseUrl: service.url };
  await retargetChained(deps(), { ...chained, actorId: world.ids['stranger']! });
  expect(await targets(path, iids)).toEqual(['topic']);
  await as('owner', 'POST', `${path}/repository/branches?branch=topic&ref=main`);
  await retargetChained(deps(), { ...chained, actorId: world.ids['owner']! });
  expect(await targets(path, iids)).toEqual(['topic']);
});
