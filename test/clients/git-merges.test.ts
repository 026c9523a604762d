/** Merges, squashes, rebases and fast-forwards asked for by HTTP make what git makes of the same branches. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GitFixture } from '../git/history-fixture.ts';
import { generateBranches, generateMerges, gitMergeTree, type MergeCase } from '../git/merge-fixture.ts';
import { type Service, startService } from '../harness/service.ts';
import { settled } from '../harness/settled.ts';
import { pushedProject } from '../scenarios/repository/pushed-project.ts';
import { GitCli, withToken } from './git-cli.ts';

/** Moves of files and directories, modes, links, submodules, criss-crosses: of some, git says that they conflict. */
const MERGES = 24;
const REBASES = 12;
/** So many merges, from all of the history, of each repository of `BENCH_REPOS` are made again. */
const REPLAYED = Number(process.env['REPLAYED_MERGES'] ?? 40);

const git = new GitCli();
let service: Service;
let ada: { readonly id: number; readonly username: string; readonly token: string };
const fixtures: GitFixture[] = [];
beforeAll(async () => {
  service = await startService();
  ada = await service.user('ada');
});
afterAll(async () => {
  await service.stop();
  git[Symbol.dispose]();
  for (const fixture of fixtures) fixture[Symbol.dispose]();
});

async function projectOf(name: string, fill: (git: GitFixture) => void, settings: object = {}) {
  const pushed = await pushedProject(service, ada, name, fill, { visibility: 'private', ...settings });
  fixtures.push(pushed.git);
  const path = `/projects/${pushed.id}/merge_requests`;
  const call = (method: string, at: string, json?: object) =>
    service.call(method, `${path}${at}`, { token: ada.token, ...(json && { json }) });
  return {
    git: pushed.git,
    call,
    /** @returns the path of the merge request, below those of the project */
    propose: async (source_branch: string, target_branch: string): Promise<string> => {
      const json = { title: `${source_branch} into ${target_branch}`, source_branch, target_branch };
      const { status, body } = await call('POST', '', { ...json, remove_source_branch: false });
      expect(status, JSON.stringify(body)).toBe(201);
      return `/${body.iid}`;
    },
    /** Whether it is said to be mergeable, once that is known. */
    verdict: async (at: string): Promise<string> => {
      for (;;) {
        const { merge_status: told } = (await call('GET', at)).body;
        if (told !== 'checking') return told;
        await sleep(50);
      }
    },
    /** What git fetches of it now: a bare repository, found sound. */
    fetched: (at: string) => git.clone(withToken(service.url, `ada/${name}`, ada.token), at, '--mirror'),
  };
}

/** Merges `theirs` into `ours` of each case, every second one squashed, and compares trees and parents with git's. */
async function compareMerges(name: string, cases: readonly MergeCase[], fill: (git: GitFixture) => void) {
  const project = await projectOf(name, fill);
  const merged = new Map<MergeCase, { tree: string; merge: string; squash: string | null }>();
  const refused: MergeCase[] = [];
  for (const [i, each] of cases.entries()) {
    const [ours, theirs] = each;
    const at = await project.propose(theirs, ours);
    const verdict = await project.verdict(at);
    const { status, body } = await project.call('PUT', `${at}/merge`, { squash: i % 2 === 1 });
    const { clean, tree } = gitMergeTree(project.git, ours, theirs);
    expect([verdict, status, body.message], `${theirs} into ${ours}`).toEqual(
      clean ? ['can_be_merged', 200, undefined] : ['cannot_be_merged', 406, 'Branch cannot be merged'],
    );
    if (clean) merged.set(each, { tree, merge: body.merge_commit_sha, squash: body.squash_commit_sha });
    else refused.push(each);
  }
  const clone = await project.fetched(`${name}-merged`);
  const is = (revision: string) => git.ok(clone, 'rev-parse', revision);
  for (const [[ours, theirs], { tree, merge, squash }] of merged) {
    const what = `${theirs} into ${ours}`;
    const [target, source] = [project.git.oid(ours), project.git.oid(theirs)];
    expect(await is(`refs/heads/${ours}`), what).toBe(merge);
    expect(await is(`${merge}^{tree}`), what).toBe(tree);
    const parents = await git.ok(clone, 'show', '--no-patch', '--format=%P', merge);
    expect(parents, what).toBe(`${target} ${squash ?? source}`);
    // One commit on the merge base with all that the source has.
    if (squash !== null) expect(await is(`${squash}^{tree}`), what).toBe(project.git.oid(`${theirs}^{tree}`));
  }
  for (const [ours] of refused) expect(await is(`refs/heads/${ours}`)).toBe(project.git.oid(ours));
  return { merged: merged.size, refused: refused.length };
}

test('merges and squashes have the trees of git merge, and what conflicts there moves nothing', async () => {
  const scratch = new GitFixture();
  fixtures.push(scratch);
  const cases = generateMerges(scratch, 41, MERGES);
  const found = await compareMerges('generated', cases, (git) => void generateMerges(git, 41, MERGES));
  expect(Math.min(found.merged, found.refused), JSON.stringify(found)).toBeGreaterThan(4);
});

test('rebases have the commits of git rebase, but for who committed; then a fast-forward moves the target to them', async () => {
  const fill = (git: GitFixture) => generateBranches(git, 19, REBASES);
  const project = await projectOf('rebased', fill, { merge_method: 'ff' });
  const proposed: string[] = [];
  for (let n = 0; n < REBASES; n++) proposed.push(await project.propose(`source${n}`, `target${n}`));
  for (const at of proposed) {
    const { status, body } = await project.call('PUT', `${at}/rebase`);
    expect(status, JSON.stringify(body)).toBe(202);
    await settled();
  }
  const clone = await project.fetched('rebased-by-workers');
  const work = git.path('rebasing');
  await git.ok(git.home, 'clone', '--quiet', '--no-checkout', project.git.directory, work);
  const seen = { moved: 0, conflict: 0 };
  for (const [n, at] of proposed.entries()) {
    const what = `source${n} onto target${n}`;
    const [source, onto] = [project.git.oid(`source${n}`), project.git.oid(`target${n}`)];
    const { body } = await project.call('GET', `${at}?include_rebase_in_progress=true`);
    await git.ok(work, 'checkout', '--quiet', '--force', '--detach', source);
    await git.ok(work, 'clean', '-fdxq');
    const rebase = await git.run(['rebase', '--quiet', onto], { cwd: work });
    if (rebase.code !== 0) {
      await git.ok(work, 'rebase', '--quit');
      expect([body.sha, body.merge_error], what).toEqual([source, expect.stringMatching(/^Rebase failed/)]);
      seen.conflict++;
      continue;
    }
    expect([body.rebase_in_progress, body.merge_error], what).toEqual([false, null]);
    expect(body.sha, what).toBe(await git.ok(clone, 'rev-parse', `refs/heads/source${n}`));
    // Whoever rebases is the committer.
    const shown = (at: string, tip: string) =>
      git.lines(at, 'log', '--encoding=ISO-8859-1', '--format=%T %an <%ae> %ad %B', `${onto}..${tip}`);
    expect(await shown(clone, body.sha), what).toEqual(await shown(work, 'HEAD'));
    if (body.sha !== source) seen.moved++;
    const { status, body: merged } = await project.call('PUT', `${at}/merge`);
    // What the target has already is nothing to merge.
    if (body.sha === onto) expect(status, what).toBe(406);
    else expect([status, merged.state, merged.merge_commit_sha], what).toEqual([200, 'merged', null]);
    const branch = `/projects/${body.project_id}/repository/branches/target${n}`;
    const { body: target } = await service.call('GET', branch, { token: ada.token });
    expect(target.commit.id, what).toBe(body.sha);
  }
  expect(Math.min(seen.moved, seen.conflict), JSON.stringify(seen)).toBeGreaterThan(1);
});

const folder = process.env['BENCH_REPOS'];
describe.skipIf(folder === undefined)('merges of a real repository', () => {
  const known = new Set(['express.git', 'git.git']);
  const names = folder === undefined ? [] : readdirSync(folder).filter((name) => known.has(name));
  test.each(names)(
    'of %s, proposed again, have the verdicts and trees of git merge',
    { timeout: 600_000 + REPLAYED * 10_000 },
    async (name) => {
      const two = ['--min-parents=2', '--max-parents=2'];
      const all = await git.lines(join(folder!, name), 'rev-list', '--all', ...two, '--parents');
      const step = Math.max(1, all.length / REPLAYED);
      const count = Math.min(all.length, REPLAYED);
      const merges = Array.from({ length: count }, (_, i) => all[Math.floor(i * step)]!.split(' '));
      const cases = merges.map((_, i) => [`ours${i}`, `theirs${i}`] as const);
      const fill = (fixture: GitFixture) => {
        // Copying the objects would keep the process for minutes from the connections it has.
        const alternates = fixture
          .git('rev-parse', '--git-path', 'objects/info/alternates')
          .toString()
          .trim();
        writeFileSync(resolve(fixture.directory, alternates), `${join(resolve(folder!), name, 'objects')}\n`);
        const refs = merges.flatMap(([, ours, theirs], i) => [
          `create refs/heads/ours${i} ${ours}`,
          `create refs/heads/theirs${i} ${theirs}`,
        ]);
        fixture.feed(`${refs.join('\n')}\n`, 'update-ref', '--stdin');
      };
      const found = await compareMerges(name.replace('.git', ''), cases, fill);
      expect(Math.min(found.merged, found.refused), JSON.stringify(found)).toBeGreaterThan(0);
    },
  );
});
