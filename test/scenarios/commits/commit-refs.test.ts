import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateHistory } from '../../git/history-fixture.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { scenarios } from '../../harness/scenarios.ts';
import { codeReads, seedCode } from '../repository/code-audience.ts';
import { type Pushed, pushedProject } from '../repository/pushed-project.ts';

const { service, world } = ownWorld();
let pushed: Pushed;
beforeAll(async () => {
  await seedCode(world);
  const owner = { username: 'owner', token: world.tokens.owner! };
  pushed = await pushedProject(service, owner, 'history', (git) => {
    generateHistory(git, { seed: 41, commits: 60, skew: false });
    git.git('tag', '-a', '-m', 'a tree', 'of-a-tree', 'main^{tree}');
    git.git('branch', 'feature/of-old', 'light');
  });
});
afterAll(() => {
  pushed.git[Symbol.dispose]();
});

const ask = (sha: string, query = '') =>
  service.call('GET', `${pushed.repository}/commits/${encodeURIComponent(sha)}/refs${query}`);

describe('permission to list a commit’s refs', () =>
  scenarios(() => world, codeReads('GET', '/repository/commits/main/refs')));

test('a commit’s refs are the branches, then the tags, that git lists as containing it', async () => {
  const { git } = pushed;
  for (const commit of git.lines('rev-list', '--max-count=12', '--skip=10', 'main')) {
    const of = (type: string, under: string) =>
      git
        .lines('for-each-ref', `--contains=${commit}`, '--format=%(refname:strip=2)', under)
        .map((name) => ({ type, name }));
    const branches = of('branch', 'refs/heads');
    const tags = of('tag', 'refs/tags');
    expect((await ask(commit, '?per_page=100')).body).toEqual([...branches, ...tags]);
    expect((await ask(commit, '?per_page=100&type=branch')).body).toEqual(branches);
    expect((await ask(commit, '?per_page=100&type=tag')).body).toEqual(tags);
  }
});

test('a commit’s refs can be asked for by branch, tag or abbreviated id', async () => {
  const id = pushed.git.oid('annotated^{commit}');
  const whole = (await ask(id, '?per_page=100')).body;
  expect(whole).toContainEqual({ type: 'tag', name: 'annotated' });
  expect((await ask('annotated', '?per_page=100')).body).toEqual(whole);
  expect((await ask(id.slice(0, 10), '?per_page=100')).body).toEqual(whole);
  const old = (await ask('feature/of-old', '?per_page=100')).body;
  expect(old).toContainEqual({ type: 'branch', name: 'feature/of-old' });
});

test('a commit’s refs come in pages', async () => {
  const root = pushed.git.lines('rev-list', '--max-parents=0', 'main')[0]!;
  const all = (await ask(root, '?per_page=100')).body;
  expect(all.length).toBeGreaterThan(4);
  const second = await ask(root, '?per_page=2&page=2');
  expect(second.body).toEqual(all.slice(2, 4));
  expect(second.headers.get('x-total')).toBe(String(all.length));
  expect((await ask(root, '?page=1000')).body).toEqual([]);
});

test('invalid requests for a commit’s refs are refused', async () => {
  const { status, body } = await ask('main', '?type=commit');
  expect({ status, body }).toEqual({ status: 400, body: { error: 'type does not have a valid value' } });
  for (const sha of ['0'.repeat(40), 'no-such', 'of-a-tree', 'main~100000', 'x\u0001y']) {
    expect([sha, (await ask(sha)).status, (await ask(sha)).body]).toEqual([
      sha,
      404,
      { message: '404 Commit Not Found' },
    ]);
  }
});
