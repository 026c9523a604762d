/** Projects whose discussions on lines are resolved when a push makes them outdated (`resolve_outdated_diff_discussions`). */
import { expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { resolveOutdated } from '../../../lib/domain/merge-requests/resolve-outdated.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { notedOn } from '../../harness/proposals.ts';
import { settled } from '../../harness/settled.ts';
import type { Who } from '../../harness/world.ts';

const { world, as } = ownWorld();

const lines = (...changed: [line: number, text: string][]) => {
  const of = new Map(changed);
  return Array.from({ length: 12 }, (_, i) => `${of.get(i + 1) ?? i + 1}\n`).join('');
};

let made = 0;
/** A merge request of the owner that changes lines 2 and 11 of `a`, and `b`. */
async function proposed(resolve_outdated_diff_discussions: boolean) {
  const given = { name: `outdated-${++made}`, visibility: 'public', resolve_outdated_diff_discussions };
  const { body: project } = await as('owner', 'POST', '/projects', given);
  const path = `/projects/${project.id}`;
  const member = { user_id: world.ids['maintainer'], access_level: 40 };
  await as('owner', 'POST', `${path}/members`, member);
  const commit = async (
    files: Record<string, string>,
    action = 'update',
    who: Who = 'maintainer',
    on = {},
  ) => {
    const actions = Object.entries(files).map(([file_path, content]) => ({ action, file_path, content }));
    const json = { branch: 'topic', commit_message: 'x', actions, ...on };
    const { status, body } = await as(who, 'POST', `${path}/repository/commits`, json);
    expect(status, JSON.stringify(body)).toBe(201);
    await settled();
  };
  await commit({ a: lines(), b: lines() }, 'create', 'owner', { branch: 'main' });
  const both = lines([2, 'two'], [11, 'eleven']);
  await commit({ a: both, b: both }, 'update', 'owner', { start_branch: 'main' });
  const input = { title: 'Topic', source_branch: 'topic', target_branch: 'main' };
  const { body } = await as('owner', 'POST', `${path}/merge_requests`, input);
  const at = `${path}/merge_requests/${body.iid}`;
  /** Starts a discussion, on a line of the latest version if one is given. @returns its path */
  const discuss = async (position?: object): Promise<string> => {
    const { diff_refs } = (await as('owner', 'GET', at)).body;
    const place = position && { ...diff_refs, position_type: 'text', new_path: 'a', ...position };
    const json = { body: 'see', ...(place && { position: place }) };
    const { status, body } = await as('owner', 'POST', `${at}/discussions`, json);
    expect(status, JSON.stringify(body)).toBe(201);
    return `${at}/discussions/${body.id}`;
  };
  const isResolved = async (discussion: string) =>
    (await as('owner', 'GET', discussion)).body.notes[0].resolved as boolean;
  const record = async () => (await world.store.mergeRequests.get({ projectId: project.id, iid: body.iid }))!;
  return {
    at,
    iid: body.iid as number,
    projectId: project.id as number,
    commit,
    discuss,
    isResolved,
    record,
  };
}

test('a push that changes a line resolves the discussion on it, for who pushed, and says so as its last note', async () => {
  const { commit, discuss, isResolved, record, iid, projectId, at } = await proposed(true);
  const [changed, other] = [await discuss({ new_line: 2 }), await discuss({ new_line: 11 })];
  const [plain, file] = [await discuss(), await discuss({ new_path: 'b', position_type: 'file' })];
  await commit({ a: lines([2, 'deux'], [11, 'eleven']) });
  const { body } = await as('owner', 'GET', changed);
  expect(body.notes).toMatchObject([
    { body: 'see', resolved: true, resolved_by: { username: 'maintainer' }, system: false },
    {
      ...{ body: 'changed this line in version 2 of the diff', system: true, resolvable: false },
      ...{ type: 'DiffNote', author: { username: 'maintainer' } },
    },
  ]);
  expect(body.notes).toHaveLength(2);
  for (const open of [other, plain, file]) expect(await isResolved(open)).toBe(false);
  expect(await record()).toMatchObject({ unresolvedCount: 3, userNotesCount: 4 });
  // A file that is no more changed.
  await commit({ b: lines() });
  expect((await as('owner', 'GET', file)).body.notes.at(-1).body).toBe(
    'changed this file in version 3 of the diff',
  );
  // The last one that is open is told as by those who resolve themselves.
  await as('owner', 'PUT', plain, { resolved: true });
  await commit({ a: lines([2, 'deux'], [11, 'onze']) });
  expect(await isResolved(other)).toBe(true);
  expect((await record()).unresolvedCount).toBe(0);
  expect(await notedOn(projectId, iid)).toContainEqual(['resolved all threads', 'maintainer']);
  const comments = await as('owner', 'GET', `${at}/notes?activity_filter=only_comments`);
  expect(comments.body.map((note: { body: string }) => note.body)).toEqual(['see', 'see', 'see', 'see']);
});

test('what was outdated before stays open where somebody opened it again', async () => {
  const { commit, discuss, isResolved } = await proposed(true);
  const discussion = await discuss({ new_line: 2 });
  await commit({ a: lines([2, 'deux'], [11, 'eleven']) });
  expect(await isResolved(discussion)).toBe(true);
  await as('owner', 'PUT', discussion, { resolved: false });
  await commit({ a: lines([2, 'zwei'], [11, 'eleven']) });
  expect(await isResolved(discussion)).toBe(false);
});

test('a line that only moves keeps its discussion open', async () => {
  const { commit, discuss, isResolved } = await proposed(true);
  const discussion = await discuss({ new_line: 11 });
  await commit({ a: `0\n${lines([2, 'two'], [11, 'eleven'])}` });
  expect(await isResolved(discussion)).toBe(false);
});

test('a project that does not want it has its outdated discussions left open', async () => {
  const { commit, discuss, isResolved } = await proposed(false);
  const discussion = await discuss({ new_line: 2 });
  await commit({ a: lines([2, 'deux'], [11, 'eleven']) });
  expect(await isResolved(discussion)).toBe(false);
  expect((await as('owner', 'GET', discussion)).body.notes).toHaveLength(1);
});

test('the job goes on where it ended, and done twice it notes nothing twice', async () => {
  const { commit, discuss, record, iid, projectId } = await proposed(false);
  const discussion = await discuss({ new_line: 2 });
  const before = (await record()).diff;
  await commit({ a: lines([2, 'deux'], [11, 'eleven']) });
  const { diff: after } = await record();
  const mover = { actorId: world.ids['maintainer']!, baseUrl: '' };
  const version = { projectId, iid, before, after, number: after.number, ...mover };
  const rest = await resolveOutdated(deps(), version, 0);
  expect(rest).toEqual({ ...version, from: 0 });
  for (let i = 0; i < 2; i++)
    expect(await resolveOutdated(deps(), rest!, Number.POSITIVE_INFINITY)).toBeUndefined();
  const { body } = await as('owner', 'GET', discussion);
  expect(body.notes.map((note: { body: string }) => note.body)).toEqual([
    'see',
    'changed this line in version 2 of the diff',
  ]);
  expect((await record()).unresolvedCount).toBe(0);
});
