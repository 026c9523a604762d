import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateHistory, random } from '../../git/history-fixture.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { scenarios } from '../../harness/scenarios.ts';
import { expectSchema } from '../../harness/schemas.ts';
import { codeReads, seedCode } from './code-audience.ts';
import { type Pushed, pushedProject } from './pushed-project.ts';

const { service, world } = ownWorld();
let pushed: Pushed;
beforeAll(async () => {
  await seedCode(world);
  const owner = { username: 'owner', token: world.tokens.owner! };
  pushed = await pushedProject(service, owner, 'history', (git) => {
    generateHistory(git, { seed: 43, commits: 60, skew: false });
    forks(git.feed.bind(git));
  });
});
afterAll(() => {
  pushed.git[Symbol.dispose]();
});

/** A line of commits with a branch from each of the first three, and an unrelated one. */
function forks(feed: (input: string, ...args: string[]) => string): void {
  const commit = (ref: string, mark: number, from?: number) =>
    `commit refs/heads/${ref}\nmark :${mark}\ncommitter C <c@example.com> ${1.5e9 + mark} +0000\ndata 1\nm\n` +
    `${from === undefined ? '' : `from :${from}\n`}\n`;
  let stream = commit('line', 1) + commit('line', 2, 1) + commit('line', 3, 2);
  for (const n of [1, 2, 3]) stream += commit(`from-${n}`, 10 + n, n);
  feed(stream + commit('unrelated', 20), 'fast-import', '--quiet');
}

const ask = (query: string) => service.call('GET', `${pushed.repository}/merge_base${query}`);
const of = (...refs: string[]) => ask(`?${refs.map((ref) => `refs[]=${encodeURIComponent(ref)}`).join('&')}`);

describe('permission to find a merge base', () =>
  scenarios(() => world, codeReads('GET', '/repository/merge_base?refs[]=main&refs[]=v1')));

test('the merge base equals git merge-base --octopus for two and more commits', async () => {
  const { git } = pushed;
  const pick = random(3);
  const commits = git.lines('rev-list', '--all');
  let found = 0;
  for (let n = 0; n < 40; n++) {
    const refs = Array.from({ length: 2 + pick(3) }, () => commits[pick(commits.length)]!);
    let bases: string[] = [];
    try {
      bases = git.lines('merge-base', '--octopus', '--all', ...refs);
    } catch {
      // Unrelated.
    }
    const { status, body } = await of(...refs);
    if (bases.length === 0) expect([status, body]).toEqual([404, { message: '404 Merge Base Not Found' }]);
    else expect(bases, refs.join()).toContain(body.id);
    found += bases.length;
  }
  expect(found).toBeGreaterThan(10);
});

test('the merge base is returned as a whole commit', async () => {
  const { status, body } = await of('main', 'light');
  expect(status).toBe(200);
  expectSchema('commit/basic', body);
  const id = pushed.git.git('merge-base', 'main', 'light').trim();
  const commit = await service.call('GET', `${pushed.repository}/commits/${id}?stats=false`);
  const { status: _, project_id: __, last_pipeline: ___, ...basic } = commit.body;
  expect(body).toEqual(basic);
});

test('the merge base of three branches is an ancestor of all, in any order', async () => {
  const base = pushed.git.oid('line~2');
  for (const refs of [
    ['from-1', 'from-2', 'from-3'],
    ['from-2', 'from-1', 'from-3'],
    ['from-3', 'from-2', 'from-1'],
  ]) {
    expect([refs, (await of(...refs)).body.id]).toEqual([refs, base]);
  }
  expect((await of('from-2', 'from-3')).body.id).toBe(pushed.git.oid('line~1'));
  expect((await of('line', 'line')).body.id).toBe(pushed.git.oid('line'));
  expect((await of('line', 'line~1', 'line')).body.id).toBe(pushed.git.oid('line~1'));
});

test('the refs of a merge base may be given in one text', async () => {
  expect((await ask('?refs=from-2,from-3')).body.id).toBe(pushed.git.oid('line~1'));
});

test.each([
  ['', 400, { error: 'refs is missing' }],
  ['?refs[]=main', 400, { message: 'Provide at least 2 refs' }],
  ['?refs[]=nope', 400, { message: 'Provide at least 2 refs' }],
  ['?refs[]=', 400, { message: 'Provide at least 2 refs' }],
  ['?refs[]=main&refs[]=nope', 400, { message: 'Could not find ref: nope' }],
  ['?refs[]=nope&refs[]=main&refs[]=nor', 400, { message: 'Could not find refs: nope, nor' }],
  ['?refs[]=main&refs[]=unrelated', 404, { message: '404 Merge Base Not Found' }],
  ['?refs[]=line&refs[]=from-1&refs[]=unrelated', 404, { message: '404 Merge Base Not Found' }],
])('a merge base of %s is answered with %i', async (query, status, body) => {
  const answer = await ask(query);
  expect([answer.status, answer.body]).toEqual([status, body]);
});
