import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GitCli, withToken } from '../../clients/git-cli.ts';
import { generateMerges } from '../../git/merge-fixture.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { scenarios } from '../../harness/scenarios.ts';
import { expectSchema } from '../../harness/schemas.ts';
import type { Answer } from '../../harness/service.ts';
import { ask, type Who } from '../../harness/world.ts';
import { codeWrites, seedCode } from '../repository/code-audience.ts';
import { type Pushed, pushedProject } from '../repository/pushed-project.ts';

const git = new GitCli();
const { service, world } = ownWorld();
let merges: Pushed;
let story: Pushed;
const CASES = 8;
beforeAll(async () => {
  await seedCode(world);
  const owner = { username: 'owner', token: world.tokens.owner! };
  merges = await pushedProject(
    service,
    owner,
    'merges',
    (fixture) => void generateMerges(fixture, 47, CASES),
  );
  story = await pushedProject(service, owner, 'story', (fixture) => {
    const commit = (ref: string, n: number, message: string, rest: string) =>
      `commit refs/heads/${ref}\nauthor Ada L <ada@example.com> ${1.6e9 + n} +0230\n` +
      `committer C <c@example.com> ${1.6e9 + n} +0000\ndata ${message.length}\n${message}\n${rest}\n`;
    const file = (name: string, text: string) => `M 100644 inline ${name}\ndata ${text.length}\n${text}\n`;
    fixture.feed(
      commit('main', 1, 'Begin\n', file('a', '1\n2\n3\n')) +
        commit(
          'topic',
          2,
          'Add b\n\nAt length.\n\nSigned-off-by: A\n',
          `from refs/heads/main\n${file('b', 'b\n')}`,
        ) +
        commit('edit', 3, '\n  Edit a  \n', `from refs/heads/main\n${file('a', '1\ntwo\n3\n')}`) +
        commit('rival', 4, 'Edit a otherwise', `from refs/heads/main\n${file('a', '1\nzwei\n3\n')}`) +
        commit('empty', 5, 'Nothing\n', 'from refs/heads/main\n'),
      'fast-import',
      '--quiet',
    );
    fixture.git('tag', '-a', '-m', 'tagged', 'tagged', 'topic');
  });
  for (const { id } of [merges, story])
    for (const [who, access_level] of [
      ['reporter', 20],
      ['developer', 30],
      ['maintainer', 40],
    ] as const)
      await ask(world, 'owner', 'POST', `/projects/${id}/members`, { user_id: world.ids[who], access_level });
});
afterAll(() => {
  merges.git[Symbol.dispose]();
  story.git[Symbol.dispose]();
  git[Symbol.dispose]();
});

type Verb = 'cherry_pick' | 'revert';
const VERBS = ['cherry_pick', 'revert'] as const;
const told = ({ status, body }: Answer) => [status, body];
const post = (who: Who, of: Pushed, verb: Verb, sha: string, json: unknown) =>
  ask(world, who, 'POST', `${of.repository}/commits/${encodeURIComponent(sha)}/${verb}`, json);
const branchOf = async (of: Pushed, name: string) =>
  (await ask(world, 'owner', 'GET', `${of.repository}/branches/${encodeURIComponent(name)}`)).body;
let made = 0;
async function branch(of: Pushed, ref: string): Promise<string> {
  const name = `work-${++made}`;
  const answer = await ask(world, 'owner', 'POST', `${of.repository}/branches`, { branch: name, ref });
  expect(answer.status).toBe(201);
  return name;
}
const MESSAGES: Record<Verb, unknown> = {
  cherry_pick: expect.stringMatching(/^Sorry, we cannot cherry-pick this commit automatically\./),
  revert: expect.stringMatching(/^Sorry, we cannot revert this commit automatically\./),
};

describe('permission to cherry-pick and revert', () => {
  const forbidden = { message: '403 Forbidden - You are not allowed to push into this branch' };
  scenarios(
    () => world,
    VERBS.flatMap((verb) =>
      // What the branch has already, and what it begins with: neither changes anything.
      codeWrites(
        'POST',
        `/repository/commits/feature%2Fx/${verb}`,
        { branch: 'feature/x', dry_run: true },
        { status: verb === 'revert' ? 200 : 400, forbidden },
      ),
    ),
  );
});

describe('cherry-pick and revert give the tree that git gives', () => {
  /** The tree that git commits, or why it commits none. */
  async function outcome(at: string, verb: Verb, commit: string, onto: string): Promise<string> {
    await git.ok(at, 'checkout', '--quiet', '--force', '--detach', onto);
    await git.ok(at, 'clean', '-fdxq');
    const parents = (await git.ok(at, 'rev-list', '--parents', '-1', commit)).split(' ').length - 1;
    const command = verb === 'revert' ? ['revert', '--no-edit'] : ['cherry-pick', '--allow-empty'];
    const settings = ['-c', 'merge.directoryRenames=false'];
    const { code } = await git.run([...settings, ...command, ...(parents > 1 ? ['-m', '1'] : []), commit], {
      cwd: at,
    });
    const unmerged = await git.ok(at, 'ls-files', '--unmerged');
    if (code !== 0) await git.run([command[0]!, '--quit'], { cwd: at });
    if (unmerged !== '') return 'conflict';
    if (code !== 0) return 'empty';
    const [tree, before] = await git.lines(at, 'rev-parse', 'HEAD^{tree}', `${onto}^{tree}`);
    // A commit that was empty itself git makes again; here it is told.
    return tree === before ? 'empty' : tree!;
  }

  test.each(VERBS)('for %s of generated branches', async (verb) => {
    const clone = await git.clone(withToken(service.url, 'owner/merges'), `clone-${verb}`);
    const seen = new Set<string>();
    for (let n = 0; n < CASES; n++) {
      for (const [what, onto] of [
        [`origin/ours${n}`, `origin/theirs${n}`],
        [`origin/theirs${n}`, `origin/ours${n}`],
        [`origin/ours${n}`, `origin/ours${n}`],
      ] as const) {
        const commit = await git.ok(clone, 'rev-parse', what);
        const expected = await outcome(clone, verb, commit, onto);
        const target = await branch(merges, onto.replace('origin/', ''));
        const before = (await branchOf(merges, target)).commit;
        const dry = await post('developer', merges, verb, commit, { branch: target, dry_run: true });
        const done = await post('developer', merges, verb, commit, { branch: target });
        const key = `${n} ${what} ${onto}`;
        if (expected === 'conflict' || expected === 'empty') {
          const failure = { message: MESSAGES[verb], error_code: expected };
          expect([key, ...told(done)]).toEqual([key, 400, failure]);
          expect([key, ...told(dry)]).toEqual([key, 400, { ...failure, dry_run: 'error' }]);
          expect((await branchOf(merges, target)).commit).toEqual(before);
          seen.add(expected);
          continue;
        }
        seen.add('picked');
        expect([key, ...told(dry)]).toEqual([key, 200, { dry_run: 'success' }]);
        expect([key, done.status]).toEqual([key, 201]);
        expectSchema('commit/detail', done.body);
        expect(done.body.parent_ids).toEqual([before.id]);
        await git.ok(clone, 'fetch', '--quiet', 'origin', target);
        expect(await git.ok(clone, 'rev-parse', 'FETCH_HEAD', 'FETCH_HEAD^{tree}')).toBe(
          `${done.body.id}\n${expected}`,
        );
      }
    }
    await git.sound(clone);
    expect([...seen].sort()).toEqual(['conflict', 'empty', 'picked']);
  });
});

test('a picked commit keeps its author, has the caller as committer, and a message that names the original', async () => {
  const onto = await branch(story, 'main');
  const topic = story.git.oid('topic');
  const picked = await post('developer', story, 'cherry_pick', 'tagged', { branch: onto });
  expectSchema('commit/detail', picked.body);
  expect(told(picked)).toMatchObject([
    201,
    {
      title: 'Add b',
      message: `Add b\n\nAt length.\n\nSigned-off-by: A\n\n(cherry picked from commit ${topic})`,
      author_name: 'Ada L',
      author_email: 'ada@example.com',
      authored_date: '2020-09-13T14:56:42.000+02:30',
      committer_name: 'developer',
      committer_email: 'developer@example.com',
      stats: { additions: 1, deletions: 0, total: 1 },
      project_id: story.id,
    },
  ]);
  expect((await branchOf(story, onto)).commit.id).toBe(picked.body.id);
  const told_ = await post('developer', story, 'cherry_pick', 'edit', {
    branch: onto,
    message: 'Told\n\notherwise',
  });
  expect(told_.body).toMatchObject({
    message: 'Told\n\notherwise',
    author_name: 'Ada L',
    parent_ids: [picked.body.id],
  });

  const reverted = await post('developer', story, 'revert', topic.slice(0, 12), {
    branch: onto,
    message: 'not asked',
  });
  expect(told(reverted)).toMatchObject([
    201,
    {
      message: `Revert "Add b"\n\nThis reverts commit ${topic}`,
      author_name: 'developer',
      committer_name: 'developer',
      stats: { additions: 0, deletions: 1, total: 1 },
    },
  ]);
  const edit = await post('developer', story, 'revert', 'edit', { branch: onto });
  expect(edit.body.title).toBe('Revert "Edit a"');
  // All taken back: the files are as they were.
  const trees = await Promise.all(
    [onto, 'main'].map((ref) => ask(world, 'owner', 'GET', `${story.repository}/tree?ref=${ref}`)),
  );
  expect(trees[0]!.body).toEqual(trees[1]!.body);
});

test('a pick that is repeated, conflicts or changes nothing is refused with its error code', async () => {
  const onto = await branch(story, 'main');
  expect((await post('owner', story, 'cherry_pick', 'edit', { branch: onto })).status).toBe(201);
  for (const [sha, verb, error_code] of [
    ['edit', 'cherry_pick', 'empty'],
    ['rival', 'cherry_pick', 'conflict'],
    ['rival', 'revert', 'conflict'],
    ['empty', 'cherry_pick', 'empty'],
    ['empty', 'revert', 'empty'],
    ['topic', 'revert', 'empty'],
  ] as const) {
    const before = await branchOf(story, onto);
    const answer = await post('owner', story, verb, sha, { branch: onto });
    expect([sha, verb, ...told(answer)]).toEqual([sha, verb, 400, { message: MESSAGES[verb], error_code }]);
    expect(await branchOf(story, onto)).toEqual(before);
  }
});

describe('an invalid pick is refused with a reason', () => {
  test.each([
    [{}, 400, { error: 'branch is missing, branch is empty' }],
    [{ branch: '' }, 400, { error: 'branch is empty' }],
    [{ branch: 'main', dry_run: 'perhaps' }, 400, { error: 'dry_run is invalid' }],
    [{ branch: 'nope' }, 404, { message: '404 Branch Not Found' }],
    [{ branch: 'tagged' }, 404, { message: '404 Branch Not Found' }],
    [{ branch: 'a..b' }, 400, { message: 'The branch refname is invalid' }],
  ])('for %j', async (json, status, body) => {
    for (const verb of VERBS)
      expect(told(await post('owner', story, verb, 'topic', json))).toEqual([status, body]);
  });

  test('of something that is not a commit is 404', async () => {
    for (const verb of VERBS)
      for (const sha of ['nope', '0'.repeat(40), story.git.oid('main^{tree}')])
        expect(told(await post('owner', story, verb, sha, { branch: 'topic' }))).toEqual([
          404,
          { message: '404 Commit Not Found' },
        ]);
  });

  test('a protected branch refuses a pick, also a dry run, by those who may not push to it', async () => {
    for (const verb of VERBS)
      for (const dry_run of [false, true])
        for (const sha of ['topic', 'nope'])
          expect(told(await post('developer', story, verb, sha, { branch: 'main', dry_run }))).toEqual([
            403,
            { message: '403 Forbidden - You are not allowed to push into this branch' },
          ]);
    expect(
      (await post('maintainer', story, 'cherry_pick', 'topic', { branch: 'main', dry_run: true })).status,
    ).toBe(200);
  });
});

test('many simultaneous picks onto one branch are each applied once', async () => {
  const onto = await branch(story, 'main');
  const files = Array.from({ length: 6 }, (_, i) => `file-${i}`);
  const sources: string[] = [];
  for (const file of files) {
    const json = { branch: await branch(story, 'main'), commit_message: file, content: file };
    expect((await ask(world, 'owner', 'POST', `${story.repository}/files/${file}`, json)).status).toBe(201);
    sources.push(json.branch);
  }
  const answers = await Promise.all(
    sources.map((sha) => post('developer', story, 'cherry_pick', sha, { branch: onto })),
  );
  expect(answers.map(({ status }) => status)).toEqual(files.map(() => 201));
  const log = await ask(world, 'owner', 'GET', `${story.repository}/commits?ref_name=${onto}`);
  expect(log.body.length).toBe(files.length + 1);
  expect(new Set(log.body.map(({ id }: { id: string }) => id))).toEqual(
    new Set([...answers.map(({ body }) => body.id), story.git.oid('main')]),
  );
});
