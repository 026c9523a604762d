import { expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';
import type { Who } from '../../harness/world.ts';
import { pushedProject } from '../repository/pushed-project.ts';

const { world, as, service } = ownWorld();

let made = 0;
/** A project of the owner with a commit on `main`, and a maintainer. */
async function project(settings: object = {}): Promise<string> {
  const name = `elsewhere-${++made}`;
  const { body } = await as('owner', 'POST', '/projects', { name, visibility: 'public', ...settings });
  const path = `/projects/${body.id}`;
  await as('owner', 'POST', `${path}/members`, { user_id: world.ids['maintainer'], access_level: 40 });
  await commit(path, 'main');
  return path;
}

let files = 0;
/** @returns the commit */
async function commit(path: string, branch: string, start_branch?: string, message = 'Add a file') {
  const actions = [{ action: 'create', file_path: `${++files}.txt`, content: 'x' }];
  const json = { branch, commit_message: message, actions, ...(start_branch && { start_branch }) };
  const { status, body } = await as('owner', 'POST', `${path}/repository/commits`, json);
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id as string;
}

/** @returns the number */
async function propose(path: string, source_branch: string, more: object = {}): Promise<number> {
  const json = { title: source_branch, source_branch, target_branch: 'main', ...more };
  const { status, body } = await as('owner', 'POST', `${path}/merge_requests`, json);
  expect(status, JSON.stringify(body)).toBe(201);
  return body.iid;
}

/** The numbers of a list. */
async function iids(who: Who, path: string): Promise<number[]> {
  const { status, body } = await as(who, 'GET', path);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.map(({ iid }: { iid: number }) => iid);
}

test('a commit leads to the merge requests that propose it, also when they are merged, and to its own merge', async () => {
  const path = await project();
  const first = await commit(path, 'topic', 'main');
  const second = await commit(path, 'topic');
  const iid = await propose(path, 'topic');
  const of = (sha: string) => iids('reporter', `${path}/repository/commits/${sha}/merge_requests`);
  expect([await of(first), await of(second), await of('topic'), await of('main')]).toEqual([
    ...[[iid], [iid], [iid], []],
  ]);
  const third = await commit(path, 'topic');
  await settled();
  expect([await of(first), await of(third)]).toEqual([[iid], [iid]]);
  const merged = await as('owner', 'PUT', `${path}/merge_requests/${iid}/merge`);
  expect(merged.body.state).toBe('merged');
  expect([await of(first), await of(merged.body.merge_commit_sha)]).toEqual([[iid], [iid]]);
  const absent = await as('owner', 'GET', `${path}/repository/commits/${'f'.repeat(40)}/merge_requests`);
  expect([absent.status, absent.body.message]).toEqual([404, '404 Commit Not Found']);
});

test('each commit of a long branch leads to its merge request, and none that it began from', async () => {
  const owner = { username: 'owner', token: world.tokens.owner! };
  const { id, git } = await pushedProject(service, owner, 'elsewhere-long', (git) => {
    const commit = (branch: string, from: string, n: number) =>
      `commit refs/heads/${branch}\ncommitter C <c@example.com> ${1600000000 + n} +0000\ndata 1\nx\n` +
      `${from === '' ? '' : `from refs/heads/${from}\n`}M 100644 inline f${n}\ndata 1\nx\n`;
    const streams = [commit('main', '', 0), commit('main', '', 1)];
    for (let n = 2; n < 64; n++) streams.push(commit('long', n === 2 ? 'main' : '', n));
    streams.push(commit('short', 'main', 64));
    git.feed(streams.join(''), 'fast-import', '--quiet');
  });
  const path = `/projects/${id}`;
  const [long, short] = [await propose(path, 'long'), await propose(path, 'short')];
  const of = (revision: string) =>
    iids('reporter', `${path}/repository/commits/${git.oid(revision)}/merge_requests`);
  expect(await Promise.all(['long', 'long~49', 'long~50', 'long~61'].map(of))).toEqual(Array(4).fill([long]));
  expect(await Promise.all(['short', 'main', 'main~1'].map(of))).toEqual([[short], [], []]);
  await as('owner', 'PUT', `${path}/merge_requests/${long}/merge`);
  expect(await of('long~60')).toEqual([long]);
});

test('what a forced push took out of a branch leads to its merge request no more', async () => {
  const path = await project();
  const before = await commit(path, 'topic', 'main');
  const iid = await propose(path, 'topic');
  const json = {
    ...{ branch: 'topic', start_branch: 'main', force: true, commit_message: 'Anew' },
    actions: [{ action: 'create', file_path: 'anew.txt', content: 'x' }],
  };
  const { body } = await as('owner', 'POST', `${path}/repository/commits`, json);
  await settled();
  const of = (sha: string) => iids('owner', `${path}/repository/commits/${sha}/merge_requests`);
  expect([await of(before), await of(body.id)]).toEqual([[], [iid]]);
});

test('a commit leads nobody to merge requests that they may not read', async () => {
  const path = await project({ merge_requests_access_level: 'private' });
  const sha = await commit(path, 'topic', 'main');
  const iid = await propose(path, 'topic');
  const of = (who: Who) => iids(who, `${path}/repository/commits/${sha}/merge_requests`);
  expect([await of('maintainer'), await of('stranger')]).toEqual([[iid], []]);
});

test('a milestone of a project shows its merge requests, one of a group those of all its projects', async () => {
  const path = await project();
  await commit(path, 'topic', 'main');
  const milestone = (await as('owner', 'POST', `${path}/milestones`, { title: 'v1' })).body.id;
  const planned = await propose(path, 'topic', { milestone_id: milestone });
  await commit(path, 'other', 'main');
  await propose(path, 'other');
  expect(await iids('reporter', `${path}/milestones/${milestone}/merge_requests`)).toEqual([planned]);

  const group = await as('owner', 'POST', '/groups', {
    name: 'g',
    path: 'elsewhere-g',
    visibility: 'public',
  });
  const [open, hidden] = [
    await project({ namespace_id: group.body.id }),
    await project({ namespace_id: group.body.id, visibility: 'private' }),
  ];
  const shared = await as('owner', 'POST', `/groups/${group.body.id}/milestones`, { title: 'v2' });
  for (const each of [open, hidden]) {
    await commit(each, 'topic', 'main');
    await propose(each, 'topic', { milestone_id: shared.body.id });
  }
  const list = `/groups/${group.body.id}/milestones/${shared.body.id}/merge_requests`;
  const projects = async (who: Who) =>
    (await as(who, 'GET', list)).body.map((each: { project_id: number }) => `/projects/${each.project_id}`);
  expect([await projects('owner'), await projects('stranger')]).toEqual([[hidden, open], [open]]);
});

test('a merge request shows which issues it closes: by its texts and its commits, as far as the reader sees them', async () => {
  const path = await project();
  const issue = async (more: object = {}) =>
    (await as('owner', 'POST', `${path}/issues`, { title: 'Broken', ...more })).body.iid as number;
  const [byTitle, byText, byCommit, secret, named] = [
    await issue(),
    await issue(),
    await issue(),
    await issue({ confidential: true }),
    await issue(),
  ];
  await commit(path, 'topic', 'main', `Mend it\n\nFixes #${byCommit}`);
  const description = `Closes #${byText} and #${secret}. See #${named}.`;
  const iid = await propose(path, 'topic', { title: `Resolve #${byTitle}`, description });
  const of = (who: Who, number = iid) => iids(who, `${path}/merge_requests/${number}/closes_issues`);
  expect(await of('owner')).toEqual([byTitle, byText, secret, byCommit]);
  expect(await of('stranger')).toEqual([byTitle, byText, byCommit]);
  expect(await iids('owner', `${path}/merge_requests/${iid}/closes_issues?per_page=1&page=2`)).toEqual([
    byText,
  ]);
  await as('owner', 'POST', `${path}/repository/branches?branch=stable&ref=main`);
  const aside = await propose(path, 'topic', { target_branch: 'stable', description });
  expect(await of('owner', aside)).toEqual([]);
  expect((await as('anonymous', 'GET', `${path}/merge_requests/${iid}/closes_issues`)).status).toBe(401);
});
