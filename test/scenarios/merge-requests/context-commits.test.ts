import { expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import type { Who } from '../../harness/world.ts';

const { world, as } = ownWorld();

let files = 0;
/** @returns the commit */
async function commit(path: string, branch: string, start_branch?: string): Promise<string> {
  const actions = [{ action: 'create', file_path: `${++files}.txt`, content: 'x' }];
  const json = { branch, commit_message: `Add ${files}`, actions, ...(start_branch && { start_branch }) };
  const { status, body } = await as('owner', 'POST', `${path}/repository/commits`, json);
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id;
}

let made = 0;
/** A merge request of the owner, with two commits of `main`. */
async function proposed() {
  const json = { name: `context-${++made}`, visibility: 'public' };
  const path = `/projects/${(await as('owner', 'POST', '/projects', json)).body.id}`;
  await as('owner', 'POST', `${path}/members`, { user_id: world.ids['developer'], access_level: 30 });
  const main = [await commit(path, 'main'), await commit(path, 'main')] as const;
  await commit(path, 'topic', 'main');
  const proposal = { title: 'Topic', source_branch: 'topic', target_branch: 'main' };
  const { body } = await as('owner', 'POST', `${path}/merge_requests`, proposal);
  const mr = `${path}/merge_requests/${body.iid}/context_commits`;
  const add = (who: Who, commits: readonly string[]) => as(who, 'POST', mr, { commits });
  const shown = async (who: Who) =>
    ((await as(who, 'GET', mr)).body as { id: string }[]).map(({ id }) => id).toSorted();
  return { path, main, mr, add, shown };
}

test('context commits are added, listed and taken away', async () => {
  const { main, mr, add, shown } = await proposed();
  const added = await add('developer', [main[0]]);
  expect([added.status, added.body[0].id, added.body[0].title]).toEqual([201, main[0], 'Add 1']);
  expect((await add('owner', [main[1].toUpperCase()])).status).toBe(201);
  expect(await shown('stranger')).toEqual(main.toSorted());
  expect((await as('owner', 'GET', `${mr}?per_page=1`)).body).toHaveLength(1);
  expect((await as('developer', 'DELETE', mr, { commits: [main[0]] })).status).toBe(204);
  expect((await as('developer', 'DELETE', `${mr}?commits[]=${main[1]}`)).status).toBe(204);
  expect(await shown('owner')).toEqual([]);
});

test('context commits stay when nothing else has them', async () => {
  const { path, add, shown } = await proposed();
  const gone = await commit(path, 'gone', 'main');
  expect((await add('owner', [gone])).status).toBe(201);
  await as('owner', 'DELETE', `${path}/repository/branches/gone`);
  expect(await shown('owner')).toEqual([gone]);
  const { repositoryId } = (await world.store.projects.get(Number(path.split('/')[2])))!;
  const { unpinned } = await world.store.pinnedCommits.snapshot(repositoryId, [gone as never]);
  expect(unpinned).toEqual([]);
});

test('context commits are refused that are none, are there already, or are too many; none of a list is added then', async () => {
  const { main, mr, add, shown } = await proposed();
  await add('owner', [main[0]]);
  const invalid = "One or more context commits' sha is not valid.";
  const existing = `Context commits: ["${main[0]}"] are already created`;
  const many = 'Context commits array size should not be more than 20';
  const answers = [
    await add('owner', [main[1], 'f'.repeat(40)]),
    await add('owner', ['main']),
    await add('owner', [main[1].slice(0, 10)]),
    await add('owner', [main[1], main[0]]),
    await add('owner', [main[1], main[1]]),
    await add('owner', Array(21).fill(main[1])),
    await as('owner', 'DELETE', mr, { commits: [main[0], main[1]] }),
  ];
  expect(answers.map(({ status, body }) => [status, body.message])).toEqual([
    ...[invalid, invalid, invalid, existing].map((text) => [400, text]),
    [400, existing.replace(main[0], main[1])],
    [400, many],
    [400, invalid],
  ]);
  expect((await as('owner', 'POST', mr, { commits: [] })).body).toEqual({ error: 'commits is empty' });
  expect(await shown('owner')).toEqual([main[0]]);
});

test('context commits that two add at once are all there', async () => {
  const { main, add, shown } = await proposed();
  const answers = await Promise.all([add('owner', [main[0]]), add('developer', [main[1]])]);
  expect(answers.map(({ status }) => status)).toEqual([201, 201]);
  expect(await shown('owner')).toEqual(main.toSorted());
});
