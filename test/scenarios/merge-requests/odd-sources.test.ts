/** What is proposed by branches that are strange, or are gone, and what a merged one is undone and repeated by. */
import { beforeAll, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';
import { type Pushed, pushedProject } from '../repository/pushed-project.ts';

const { service, world, as, ok } = ownWorld();
const MANY = 100_000;

let project: Pushed;
let path: string;
const commit = (branch: string, from: string, changes: string) =>
  `commit refs/heads/${branch}\ncommitter C <c@example.com> 1600000000 +0000\ndata 1\nx\n` +
  `${from === '' ? '' : `from refs/heads/${from}\n`}${changes}`;
const file = (name: string, text: string) => `M 100644 inline ${name}\ndata ${text.length}\n${text}\n`;

beforeAll(async () => {
  const owner = { username: 'owner', token: world.tokens.owner! };
  project = await pushedProject(service, owner, 'odd', (git) => {
    const many = Array.from({ length: MANY }, (_, i) => `M 100644 :1 many/${i % 100}/${i}\n`).join('');
    const streams = [
      'blob\nmark :1\ndata 2\nx\n\n',
      commit('main', '', file('a.txt', '1\n') + file('keep.txt', 'k\n')),
      commit('many', 'main', many),
      commit('orphan', '', file('own.txt', 'other\n')),
      ...['deleted', 'picked', 'hidden'].map((name) => commit(name, 'main', file(`${name}.txt`, 'x\n'))),
    ];
    git.feed(streams.join(''), 'fast-import', '--quiet');
    git.git('branch', 'stable', 'main');
  });
  path = `/projects/${project.id}`;
});

async function propose(source_branch: string, target_branch = 'main'): Promise<string> {
  const json = { title: source_branch, source_branch, target_branch };
  return `${path}/merge_requests/${(await ok('owner', 'POST', `${path}/merge_requests`, json)).iid}`;
}
const names = async (ref: string) =>
  (await ok('owner', 'GET', `${path}/repository/tree?ref=${ref}`)).map(({ name }: { name: string }) => name);

test('a change of 100,000 files is counted, shown in part and merged', async () => {
  const many = await propose('many', 'stable');
  const cut = await ok('owner', 'GET', `${many}/changes`);
  expect(cut).toMatchObject({ changes_count: '1000+', overflow: true });
  expect(cut.changes).toHaveLength(1000);
  const most = await ok('owner', 'GET', `${many}/changes?access_raw_diffs=true`);
  expect([most.changes.length, most.overflow]).toEqual([3000, true]);
  expect(await ok('owner', 'GET', `${many}/diffs?per_page=100&page=10`)).toHaveLength(100);
  expect(await ok('owner', 'GET', `${many}/versions`)).toMatchObject([{ real_size: '1000+' }]);
  await settled();
  expect(await ok('owner', 'GET', many)).toMatchObject({ merge_status: 'can_be_merged' });
  const merged = await ok('owner', 'PUT', `${many}/merge`);
  expect(merged.state).toBe('merged');
  const tree = await ok('owner', 'GET', `${path}/repository/tree?ref=stable&path=many&per_page=100`);
  expect(tree).toHaveLength(100);
});

test('a branch without a common commit is proposed, and cannot be merged', async () => {
  const orphan = await propose('orphan');
  const shown = await ok('owner', 'GET', orphan);
  expect(shown).toMatchObject({
    ...{ merge_status: 'cannot_be_merged', has_conflicts: false },
    diff_refs: { base_sha: null, head_sha: project.git.oid('orphan') },
  });
  const { status, body } = await as('owner', 'PUT', `${orphan}/merge`);
  expect([status, body.message]).toEqual([406, 'Branch cannot be merged']);
});

test('what was proposed is readable when its branch is deleted, and is closed and not merged', async () => {
  const deleted = await propose('deleted');
  const before = (await ok('owner', 'GET', `${deleted}/changes`)).changes;
  await ok('owner', 'DELETE', `${path}/repository/branches/deleted`);
  // Also before a worker has closed it.
  const refused = async () => {
    const { status, body } = await as('owner', 'PUT', `${deleted}/merge`);
    expect([status, body]).toEqual([405, { message: '405 Method Not Allowed' }]);
  };
  await refused();
  await settled();
  await refused();
  expect((await ok('owner', 'GET', `${deleted}/changes`)).changes).toEqual(before);
  expect((await ok('owner', 'GET', deleted)).state).toBe('closed');
});

const NO_BRANCH = 'Source branch "mine" does not exist';
test.each<[string, (fork: string) => Promise<unknown>, string]>([
  ['deleted', (fork) => ok('stranger', 'DELETE', fork), NO_BRANCH],
  // It is hidden from who opens it again.
  ['made private', (fork) => ok('stranger', 'PUT', fork, { visibility: 'private' }), NO_BRANCH],
  [
    'unlinked',
    (fork) => ok('stranger', 'DELETE', `${fork}/fork`),
    'Source project is not a fork of the target project',
  ],
])('what a fork proposed is closed and readable when the fork is %s', async (how, change, reason) => {
  const name = `fork-${how.replace(' ', '-')}`;
  const { id } = await ok('stranger', 'POST', `${path}/fork`, { name, path: name });
  await settled();
  const fork = `/projects/${id}`;
  const actions = [{ action: 'create', file_path: `${name}.txt`, content: 'x' }];
  const committed = { branch: 'mine', start_branch: 'main', commit_message: name, actions };
  const { id: head } = await ok('stranger', 'POST', `${fork}/repository/commits`, committed);
  const proposal = {
    source_branch: 'mine',
    target_branch: 'main',
    title: name,
    target_project_id: project.id,
  };
  const { iid } = await ok('stranger', 'POST', `${fork}/merge_requests`, proposal);
  await settled();
  await change(fork);
  await settled();
  const at = `${path}/merge_requests/${iid}`;
  expect(await ok('owner', 'GET', at)).toMatchObject({
    ...{ sha: head, state: 'closed', closed_by: { username: 'stranger' } },
  });
  const { changes } = await ok('owner', 'GET', `${at}/changes`);
  expect(changes.map(({ new_path }: { new_path: string }) => new_path)).toEqual([`${name}.txt`]);
  expect((await ok('owner', 'GET', `${at}/commits`)).map((each: { id: string }) => each.id)).toEqual([head]);
  expect(await ok('owner', 'GET', `${at}/versions`)).toHaveLength(1);
  expect((await as('owner', 'PUT', `${at}/merge`)).status).toBe(405);
  const { status, body } = await as('owner', 'PUT', at, { state_event: 'reopen' });
  expect([status, body.message]).toEqual([422, [reason]]);
  await ok('owner', 'DELETE', at);
});

test('a merged one is picked onto another branch, and reverted where it was merged', async () => {
  await ok('owner', 'POST', `${path}/repository/branches?branch=release&ref=orphan`);
  const before = await names('main');
  const { merge_commit_sha: merge, iid } = await ok('owner', 'PUT', `${await propose('picked')}/merge`);
  expect(await names('main')).toEqual([...before, 'picked.txt']);
  const commits = `${path}/repository/commits/${merge}`;
  const { message } = await ok('owner', 'GET', commits);
  const picked = await ok('owner', 'POST', `${commits}/cherry_pick`, { branch: 'release' });
  expect(await names('release')).toEqual(['own.txt', 'picked.txt']);
  const brought = `${project.git.oid('picked').slice(0, 8)} x`;
  expect(picked.message).toBe(`${message}\n\n(cherry picked from commit ${merge})\n\n${brought}`);
  const reverted = await ok('owner', 'POST', `${commits}/revert`, { branch: 'main' });
  expect(await names('main')).toEqual(before);
  expect(reverted.message).toBe(
    `Revert "Merge branch 'picked' into 'main'"\n\nThis reverts merge request !${iid}`,
  );
});

test('who may not read a merge request is not told of it when its merge is reverted', async () => {
  const private_ = { merge_requests_access_level: 'private' };
  const { merge_commit_sha: merge } = await ok('owner', 'PUT', `${await propose('hidden')}/merge`);
  await ok('owner', 'PUT', path, private_);
  const { id } = await ok('stranger', 'POST', `${path}/fork`, { name: 'reverting', path: 'reverting' });
  await settled();
  const json = { branch: 'main' };
  const at = `/projects/${id}/repository/commits/${merge}/revert`;
  expect((await ok('stranger', 'POST', at, json)).message).toMatch(`This reverts commit ${merge}`);
});
