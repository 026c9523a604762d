import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateHistory, random } from '../../git/history-fixture.ts';
import { generateMerges } from '../../git/merge-fixture.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { scenarios } from '../../harness/scenarios.ts';
import { expectSchema } from '../../harness/schemas.ts';
import { codeReads, seedCode } from './code-audience.ts';
import { gitDiff } from './git-diff.ts';
import { type Pushed, pushedProject } from './pushed-project.ts';

const { service, world } = ownWorld();
let pushed: Pushed;
beforeAll(async () => {
  await seedCode(world);
  const owner = { username: 'owner', token: world.tokens.owner! };
  pushed = await pushedProject(service, owner, 'history', (git) => {
    generateHistory(git, { seed: 19, commits: 80, skew: false });
    // Git before 2.43.2 errs about renames of files without a last newline: these have one.
    generateMerges(git, 23, 12);
    const commit = (ref: string, n: number, from = '') =>
      `commit refs/heads/${ref}\ncommitter C <c@example.com> ${1.7e9 + n} +0000\ndata 1\nm\n${from}\n`;
    git.feed(commit('unrelated', 1), 'fast-import', '--quiet');
    let long = commit('long', 0);
    for (let n = 1; n <= 1010; n++) long += commit('long', n);
    git.feed(long, 'fast-import', '--quiet');
    git.git('branch', 'long-start', 'long~1010');
    const many = Array.from({ length: 1001 }, (_, i) => `M 100644 inline many/${i}\ndata 1\nx\n`).join('');
    git.feed(commit('many', 2, `from refs/heads/main\n${many}`), 'fast-import', '--quiet');
  });
});
afterAll(() => {
  pushed.git[Symbol.dispose]();
});

const ask = (query: string) => service.call('GET', `${pushed.repository}/compare${query}`);
const compare = (from: string, to: string, more = '') =>
  ask(`?from=${encodeURIComponent(from)}&to=${encodeURIComponent(to)}${more}`);
const mergeBases = (one: string, other: string): string[] => {
  try {
    return pushed.git.lines('merge-base', '--all', one, other);
  } catch {
    return [];
  }
};

describe('permission to compare', () =>
  scenarios(() => world, codeReads('GET', '/repository/compare?from=main&to=v1')));

test('a comparison has the commits and diffs of git, from the merge base and straight', async () => {
  const { git } = pushed;
  const pick = random(8);
  const commits = git.lines('rev-list', '--branches=base*', '--branches=ours*', '--branches=theirs*');
  let [files, listed] = [0, 0];
  for (let n = 0; n < 60; n++) {
    // Of one family, which parted once or crossed, and of any.
    const own = ['base', 'ours', 'theirs'].map((name) => git.oid(`${name}${n % 12}`));
    const some = n % 3 === 0 ? commits : own;
    const [from, to] = [some[pick(some.length)]!, some[pick(some.length)]!];
    const bases = mergeBases(from, to);
    for (const straight of [false, true]) {
      const { status, body } = await compare(from, to, straight ? '&straight=true' : '');
      expect([from, to, status]).toEqual([from, to, 200]);
      const ids = git.lines('rev-list', '--reverse', `${from}..${to}`);
      expect(body.commits.map(({ id }: { id: string }) => id)).toEqual(ids);
      expect(body.commit).toEqual(body.commits.at(-1) ?? null);
      for (const commit of body.commits.slice(0, 3)) expectSchema('commit/basic', commit);
      expect([body.compare_timeout, body.compare_same_ref]).toEqual([false, from === to]);
      const [base, head] = /compare\/(\w+)\.\.\.(\w+)$/.exec(body.web_url)!.slice(1) as [string, string];
      expect(head).toBe(to);
      if (straight || bases.length > 0) expect(straight ? [from] : bases).toContain(base);
      const expected = straight || bases.length > 0 ? gitDiff(git, base, to) : [];
      expect(body.diffs).toEqual(expected);
      files += expected.length;
      listed += ids.length;
    }
  }
  expect(Math.min(files, listed)).toBeGreaterThan(100);
});

test('a comparison takes branches, tags and abbreviated ids, in both directions', async () => {
  const { git } = pushed;
  const [main, light] = [git.oid('main'), git.oid('light')];
  const expected = (await compare(light, main)).body;
  expect(expected.web_url).toBe(
    `${service.url}/owner/history/-/compare/${mergeBases(light, main)[0]}...${main}`,
  );
  for (const [from, to] of [
    ['light', 'main'],
    ['refs/tags/light', 'refs/heads/main'],
    [light.slice(0, 10), 'HEAD'],
  ] as const)
    expect((await compare(from, to)).body).toEqual(expected);
  const base = mergeBases(light, main)[0]!;
  // What the other holds already is nothing new; straight it is the way back.
  const back = (await compare('main', base)).body;
  expect(back).toMatchObject({ commit: null, commits: [], diffs: [] });
  const straight = (await compare('main', base, '&straight=1')).body;
  expect([straight.commits, straight.diffs]).toEqual([[], gitDiff(git, main, base)]);
});

test('a comparison of a ref with itself is empty, and unrelated histories compare only straight', async () => {
  expect((await compare('main', 'HEAD')).body).toMatchObject({
    commit: null,
    commits: [],
    diffs: [],
    compare_timeout: false,
    compare_same_ref: true,
  });
  const { body } = await compare('main', 'unrelated');
  expect(body.commits).toHaveLength(1);
  expect([body.diffs, body.compare_same_ref]).toEqual([[], false]);
  const straight = (await compare('main', 'unrelated', '&straight=true')).body;
  expect(straight.diffs).toEqual(gitDiff(pushed.git, 'main', 'unrelated'));
});

test('a comparison cut at a limit says so', async () => {
  const long = (await compare('long-start', 'long')).body;
  expect([long.compare_timeout, long.commits.length]).toEqual([true, 1000]);
  expect(long.commit.id).toBe(pushed.git.oid('long'));
  const many = (await compare('main', 'many')).body;
  expect([many.compare_timeout, many.diffs.length]).toEqual([true, 1000]);
});

test.each([
  ['', 400, { error: 'from is missing, to is missing' }],
  ['?to=main', 400, { error: 'from is missing' }],
  ['?from=main', 400, { error: 'to is missing' }],
  ['?from=main&to=nope', 404, { message: '404 Ref Not Found' }],
  ['?from=nope&to=main', 404, { message: '404 Ref Not Found' }],
  ['?from=&to=main', 404, { message: '404 Ref Not Found' }],
  ['?from=a..b&to=main', 404, { message: '404 Ref Not Found' }],
  [`?from=main&to=${'0'.repeat(40)}`, 404, { message: '404 Ref Not Found' }],
  ['?from=main&to=light&straight=perhaps', 400, { error: 'straight is invalid' }],
  ['?from=main&to=light&from_project_id=x', 400, { error: 'from_project_id is invalid' }],
])('a comparison with the query "%s" is answered with %i', async (query, status, body) => {
  const answer = await ask(query);
  expect([answer.status, answer.body]).toEqual([status, body]);
});

test('a comparison with another project works for itself and forks only', async () => {
  const own = await compare('light', 'main', `&from_project_id=${pushed.id}`);
  expect(own.body).toEqual((await compare('light', 'main')).body);
  for (const other of [world.ids['public'], world.ids['private'], 999_999]) {
    const { status, body } = await compare('light', 'main', `&from_project_id=${other}`);
    expect([status, body]).toEqual([
      400,
      { message: `Target project id:${other} is not a fork of project id:${pushed.id}` },
    ]);
  }
});

test('a comparison in an empty repository is 404', async () => {
  const made = await service.call('POST', '/projects', {
    token: world.tokens.owner!,
    json: { name: 'void' },
  });
  const answer = await service.call('GET', `/projects/${made.body.id}/repository/compare?from=main&to=main`, {
    token: world.tokens.owner!,
  });
  expect([answer.status, answer.body]).toEqual([404, { message: '404 Ref Not Found' }]);
});
