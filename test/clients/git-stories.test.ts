import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Service, startService } from '../harness/service.ts';
import { GitCli, withToken } from './git-cli.ts';

const git = new GitCli();
let service: Service;
let token: string;
beforeAll(async () => {
  service = await startService();
  token = (await service.user('ada')).token;
});
afterAll(async () => {
  await service.stop();
  git[Symbol.dispose]();
});

interface Story {
  readonly id: number;
  readonly url: string;
  readonly clone: string;
  get(path: string): Promise<{ status: number; body: unknown }>;
}

/** A project of one's own and a clone of it. */
async function story(name: string, branch = 'main'): Promise<Story> {
  const made = await service.call('POST', '/projects', { token, json: { name, visibility: 'public' } });
  const url = withToken(service.url, `ada/${name}`, token);
  await git.ok(git.home, 'init', '--quiet', `--initial-branch=${branch}`, name);
  const clone = git.path(name);
  await git.ok(clone, 'remote', 'add', 'origin', url);
  return {
    id: made.body.id,
    url,
    clone,
    get: (path) => service.call('GET', `/projects/${made.body.id}${path}`, { token }),
  };
}

async function commit(clone: string, name: string, content = name): Promise<string> {
  writeFileSync(join(clone, name), content);
  await git.ok(clone, 'add', '--', name);
  await git.ok(clone, 'commit', '--quiet', '-m', name);
  return git.ok(clone, 'rev-parse', 'HEAD');
}

const FORMAT = '--format=%(refname) %(objectname) %(*objectname)';
const refs = (clone: string) => git.lines(clone, 'for-each-ref', FORMAT);

/** The same refs and objects on both sides. */
async function same({ url, clone }: Story, name: string): Promise<void> {
  const mirror = await git.clone(url, `${name}-mirror`, '--mirror');
  const local = (await refs(clone)).filter((line) => !line.startsWith('refs/remotes/'));
  expect(await refs(mirror)).toEqual(local);
}

test('git pushes, fetches and clones a history with merges, tags and many files', async () => {
  const one = await story('history');
  await commit(one.clone, 'a');
  await git.ok(one.clone, 'checkout', '--quiet', '-b', 'side');
  await commit(one.clone, 'b', 'x'.repeat(100_000));
  await git.ok(one.clone, 'checkout', '--quiet', 'main');
  await commit(one.clone, 'c');
  await git.ok(one.clone, 'merge', '--quiet', '--no-edit', 'side');
  await git.ok(one.clone, 'tag', 'light');
  await git.ok(one.clone, 'tag', '-a', '-m', 'annotated', 'heavy');
  await git.ok(one.clone, 'tag', '-a', '-m', 'of a tag', 'heavier', 'heavy');
  await git.ok(one.clone, 'push', '--quiet', 'origin', '--all');
  await git.ok(one.clone, 'push', '--quiet', 'origin', '--tags');
  await same(one, 'history');
  const other = await git.clone(one.url, 'history-other');
  const id = await commit(other, 'd');
  await git.ok(other, 'push', '--quiet', 'origin', 'main');
  await git.ok(one.clone, 'pull', '--quiet', '--ff-only', 'origin', 'main');
  expect(await git.ok(one.clone, 'rev-parse', 'main')).toBe(id);
  for (const options of [
    ['--depth=1'],
    ['--depth=2', '--no-single-branch'],
    ['--filter=blob:none'],
    ['--single-branch', '--branch=side'],
  ]) {
    const shallow = await git.clone(one.url, `history${options.join('')}`, ...options);
    expect(await git.lines(shallow, 'ls-tree', '--name-only', 'HEAD')).toContain('a');
  }
  const log = (await one.get('/repository/commits?per_page=100')).body as { id: string }[];
  expect(log.map((each) => each.id)).toEqual(await git.lines(one.clone, 'log', '--format=%H', 'main'));
});

test('git pushes only fast-forwards unless forced, and deletes branches and tags', async () => {
  const one = await story('force');
  const first = await commit(one.clone, 'a');
  await commit(one.clone, 'b');
  await git.ok(one.clone, 'push', '--quiet', 'origin', 'main', 'main:topic', 'main:refs/tags/t');
  const second = await git.ok(one.clone, 'rev-parse', 'main');
  // The default branch may be protected from force: the story is another branch's.
  await git.ok(one.clone, 'push', '--quiet', 'origin', 'main:work');
  await git.ok(one.clone, 'checkout', '--quiet', '-b', 'work', first);
  const third = await commit(one.clone, 'c');
  expect(await git.fails(one.clone, 'push', 'origin', 'work')).toMatch(
    /rejected.*\(non-fast-forward\)|fetch first/,
  );
  // A server sees no difference between a forced push and one whose client did not look.
  await git.ok(one.clone, 'push', '--quiet', '--force', 'origin', 'work');
  expect(await one.get('/repository/branches/work')).toMatchObject({ body: { commit: { id: third } } });
  // With a lease on what is no longer there.
  expect(
    await git.fails(one.clone, 'push', `--force-with-lease=topic:${first}`, 'origin', 'work:topic'),
  ).toMatch(/stale info/);
  await git.ok(one.clone, 'push', '--quiet', 'origin', '--delete', 'topic', 't');
  expect(await git.lines(one.clone, 'ls-remote', 'origin')).toEqual([
    `${second}\tHEAD`,
    `${second}\trefs/heads/main`,
    `${third}\trefs/heads/work`,
  ]);
  expect(await git.fails(one.clone, 'push', 'origin', '--delete', 'main')).toMatch(
    /deletion of the current branch prohibited|default branch|protected/,
  );
  expect(await git.fails(one.clone, 'push', 'origin', '--delete', 'gone')).toMatch(
    /remote ref does not exist/,
  );
  expect((await one.get('/repository/tags')).body).toEqual([]);
});

test('an atomic push updates all refs or none', async () => {
  const one = await story('atomic');
  await commit(one.clone, 'a');
  await git.ok(one.clone, 'push', '--quiet', 'origin', 'main');
  const other = await git.clone(one.url, 'atomic-other');
  const moved = await commit(other, 'x');
  await git.ok(other, 'push', '--quiet', 'origin', 'main');
  await commit(one.clone, 'b');
  const before = await git.ok(one.clone, 'ls-remote', 'origin');
  // The client is made to believe that main is still where it was, so that the server has to refuse.
  const zero = '0'.repeat(40);
  const complaint = await git.fails(
    one.clone,
    'push',
    '--atomic',
    `--force-with-lease=new:${zero}`,
    'origin',
    'main:new',
    'main:main',
  );
  expect(complaint).toMatch(/rejected/);
  expect(await git.ok(one.clone, 'ls-remote', 'origin')).toBe(before);
  // Names that cannot both be: known to the server alone.
  expect(
    await git.fails(
      one.clone,
      'push',
      '--atomic',
      'origin',
      'main:refs/heads/p',
      'main:refs/heads/p/q',
      'main:refs/heads/fine',
    ),
  ).toMatch(/rejected/);
  expect(await git.ok(one.clone, 'ls-remote', 'origin')).toBe(before);
  await git.run(['push', 'origin', 'main:refs/heads/p', 'main:refs/heads/p/q', 'main:refs/heads/fine'], {
    cwd: one.clone,
  });
  expect(await git.ok(one.clone, 'ls-remote', 'origin')).toContain('refs/heads/fine');
  await git.ok(one.clone, 'push', '--quiet', '--atomic', 'origin', 'main:new1', 'main:new2');
  expect(await git.ok(one.clone, 'ls-remote', 'origin', 'main')).toContain(moved);
});

test('of two simultaneous pushes to main one wins; after a fetch the other succeeds too', async () => {
  const one = await story('race');
  await commit(one.clone, 'base');
  await git.ok(one.clone, 'push', '--quiet', 'origin', 'main');
  const clones = await Promise.all(['l', 'm', 'r'].map((name) => git.clone(one.url, `race-${name}`)));
  for (const [index, clone] of clones.entries()) await commit(clone, `file${index}`);
  const runs = await Promise.all(clones.map((clone) => git.run(['push', 'origin', 'main'], { cwd: clone })));
  expect(runs.filter((run) => run.code === 0).length).toBe(1);
  for (const run of runs.filter((each) => each.code !== 0)) expect(run.stderr).toMatch(/rejected/);
  for (const clone of clones) {
    await git.ok(clone, 'pull', '--quiet', '--rebase', 'origin', 'main');
    await git.run(['push', '--quiet', 'origin', 'main'], { cwd: clone });
  }
  const proof = await git.clone(one.url, 'race-proof');
  expect(await git.lines(proof, 'ls-tree', '--name-only', 'main')).toEqual([
    'base',
    'file0',
    'file1',
    'file2',
  ]);
  for (const clone of clones) await git.sound(clone);
});

describe('the default branch after the first push', () => {
  test.each([
    ['main among others', ['zeta', 'main', 'alpha'], 'main'],
    ['only master', ['master'], 'master'],
    ['only another', ['trunk'], 'trunk'],
    ['master among others', ['zeta', 'master'], 'master'],
  ])('is the right one for %s', async (what, branches, expected) => {
    const one = await story(`first-${what.replaceAll(' ', '-')}`, branches[0]);
    const id = await commit(one.clone, 'a');
    for (const branch of branches.slice(1)) await git.ok(one.clone, 'branch', branch);
    await git.ok(one.clone, 'push', '--quiet', 'origin', ...branches);
    expect((await one.get('')).body).toMatchObject({ default_branch: expected, empty_repo: false });
    const clone = await git.clone(one.url, `${what.replaceAll(' ', '-')}-clone`);
    expect(await git.ok(clone, 'symbolic-ref', 'HEAD')).toBe(`refs/heads/${expected}`);
    expect(((await one.get('/repository/commits')).body as { id: string }[])[0]!.id).toBe(id);
    const later = (await one.get(`/repository/branches/${expected}`)).body;
    expect(later).toMatchObject({ default: true });
  });

  test('is absent with tags only, and then is the next branch', async () => {
    const one = await story('first-tags');
    await commit(one.clone, 'a');
    await git.ok(one.clone, 'push', '--quiet', 'origin', 'HEAD:refs/tags/t');
    expect((await one.get('')).body).toMatchObject({ default_branch: null });
    await git.ok(one.clone, 'push', '--quiet', 'origin', 'HEAD:refs/heads/dev');
    expect((await one.get('')).body).toMatchObject({ default_branch: 'dev' });
  });
});

test('file names and modes of every kind survive push and clone', async () => {
  const one = await story('kinds');
  const stream = [
    'commit refs/heads/main',
    'author Zoë "Q" <z@e> 1600000000 -0730',
    'committer C <c@e> 1700000000 +1400',
    'encoding ISO-8859-1',
    'data 6',
    'h\xe9llo\n',
    'M 120000 inline link\ndata 6\n../a\\b',
    'M 100755 inline run\ndata 0\n',
    'M 100644 inline "with \\"quotes\\" and\\ttab"\ndata 1\nx',
    'M 100644 inline "latin\\344"\ndata 1\nx',
    `M 160000 ${'1'.repeat(40)} module`,
    '',
  ].join('\n');
  await git.run(['fast-import', '--quiet'], { cwd: one.clone, input: Buffer.from(stream, 'latin1') });
  await git.ok(one.clone, 'push', '--quiet', 'origin', 'main');
  await same(one, 'kinds');
  expect((await one.get('/repository/commits/main')).body).toMatchObject({
    message: 'h\xe9llo\n',
    author_name: 'Zoë "Q"',
    authored_date: '2020-09-13T04:56:40.000-07:30',
    committed_date: '2023-11-15T12:13:20.000+14:00',
  });
  expect(((await one.get('/repository/tree')).body as unknown[]).length).toBe(5);
});
