/** Merges, squashes, rebases and fast-forwards asked for by HTTP make what git makes of the same branches. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GitFixture } from '../git/history-fixture.ts';
import { generateBranches, generateMerges, type MergeCase } from '../git/merge-fixture.ts';
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

/** So many merges are asked for side by side: while one waits for its verdict, others are made. */
const AT_ONCE = 4;
/** After so many, what was made of them is fetched and compared. */
const ROUND = 100;

type Project = Awaited<ReturnType<typeof projectOf>>;

/** A merge that was made, and the tree that git gives it. */
interface Merged {
  readonly ours: string;
  readonly theirs: string;
  readonly tree: string;
  readonly merge: string;
  readonly squash: string | null;
}

/**
 * Merges `theirs` into `ours` of each case, every second one squashed, and compares verdicts, trees and parents with git's.
 * @returns how many git merges and refuses, and everything that differs
 */
async function compareMerges(name: string, cases: readonly MergeCase[], fill: (git: GitFixture) => void) {
  const project = await projectOf(name, fill);
  const differences: string[] = [];
  const same = (what: string, found: unknown, wanted: unknown) => {
    const [one, other] = [JSON.stringify(found), JSON.stringify(wanted)];
    if (one !== other) differences.push(`${what}: ${one}, git: ${other}`);
  };
  const counts = { merged: 0, refused: 0 };
  for (let from = 0; from < cases.length; from += ROUND) {
    const round = cases.slice(from, from + ROUND);
    const merged: Merged[] = [];
    const refused: string[] = [];
    const one = async ([ours, theirs]: MergeCase, i: number) => {
      const found = await mergeOne(project, [ours, theirs], i % 2 === 1);
      const wanted = found.clean
        ? ['can_be_merged', 200, undefined]
        : ['cannot_be_merged', 406, 'Branch cannot be merged'];
      same(`${theirs} into ${ours}`, found.told, wanted);
      if (!found.clean) refused.push(ours);
      else if (found.made !== undefined) merged.push({ ours, theirs, tree: found.tree, ...found.made });
    };
    const waiting = round.entries();
    const several = Array.from({ length: AT_ONCE }, async () => {
      for (const [i, each] of waiting) await one(each, i);
    });
    await Promise.all(several);
    await compareMade(project, name, { round, merged, refused }, same);
    counts.merged += merged.length;
    counts.refused += refused.length;
    if (cases.length > ROUND) {
      const told = `${name}: ${from + round.length} of ${cases.length} merges, ${differences.length} differ`;
      process.stderr.write(`${[told, ...differences.slice(-5)].join('\n  ')}\n`);
    }
  }
  return { ...counts, differences };
}

async function mergeOne(project: Project, [ours, theirs]: MergeCase, squash: boolean) {
  const proposed = await project.propose(theirs, ours);
  const verdict = await project.verdict(proposed);
  const { status, body } = await project.call('PUT', `${proposed}/merge`, { squash });
  const found = await mergeTree(project.git.directory, ours, theirs);
  const made = { merge: body.merge_commit_sha as string, squash: body.squash_commit_sha as string | null };
  return { ...found, told: [verdict, status, body.message], made: status === 200 ? made : undefined };
}

/** Compares what a round has made of its branches with what git makes of them. */
async function compareMade(
  project: Project,
  name: string,
  made: {
    readonly round: readonly MergeCase[];
    readonly merged: readonly Merged[];
    readonly refused: readonly string[];
  },
  same: (what: string, found: unknown, wanted: unknown) => void,
): Promise<void> {
  const at = project.git.directory;
  // What is new alone is fetched, into the repository that has all the rest, and found sound on its way.
  const url = withToken(service.url, `ada/${name}`, ada.token);
  const heads = made.round.map(([ours]) => `+refs/heads/${ours}:refs/served/${ours}`);
  await git.ok(at, '-c', 'fetch.fsckObjects=true', 'fetch', '--quiet', '--no-tags', url, ...heads);
  const named = made.merged.flatMap((one) => [one.ours, one.theirs, one.merge, one.squash ?? one.merge]);
  const served = made.round.map(([ours]) => `refs/served/${ours}`);
  const shown = await commitsOf(at, [...made.refused, ...named, ...served]);
  for (const { ours, theirs, tree, merge, squash } of made.merged) {
    const what = `${theirs} into ${ours}`;
    const [target, source, commit] = [shown.get(ours)!, shown.get(theirs)!, shown.get(merge)!];
    same(`${what}: branch`, shown.get(`refs/served/${ours}`)!.oid, merge);
    same(`${what}: tree`, commit.tree, tree);
    same(`${what}: parents`, commit.parents, `${target.oid} ${squash ?? source.oid}`);
    // One commit on the merge base with all that the source has.
    if (squash !== null) same(`${what}: squashed`, shown.get(squash)!.tree, source.tree);
  }
  for (const ours of made.refused)
    same(`${ours} of a refused merge`, shown.get(`refs/served/${ours}`)!.oid, shown.get(ours)!.oid);
}

/** What git makes of a merge. It refuses histories that have nothing in common. */
async function mergeTree(cwd: string, ours: string, theirs: string) {
  const { code, stdout, stderr } = await git.run(['merge-tree', '--write-tree', ours, theirs], { cwd });
  if (stderr.includes('refusing to merge unrelated histories')) return { clean: false, tree: '' };
  if (code !== 0 && code !== 1) throw new Error(`git merge-tree: exit ${code}\n${stderr}`);
  return { clean: code === 0, tree: stdout.toString('latin1').slice(0, 40) };
}

/** Commits by what names them: their id, tree and parents. One git reads all. */
async function commitsOf(cwd: string, names: readonly string[]) {
  const format = '%H\t%T\t%P';
  const oids = await git.run(['cat-file', '--batch-check=%(objectname)'], {
    cwd,
    input: `${names.join('\n')}\n`,
  });
  const input = oids.stdout;
  const { stdout } = await git.run(['log', '--no-walk=unsorted', '--stdin', `--format=${format}`], {
    cwd,
    input,
  });
  const rows = new Map<string, { oid: string; tree: string; parents: string }>();
  for (const line of stdout.toString().trimEnd().split('\n')) {
    const [oid, tree, parents] = line.split('\t') as [string, string, string];
    rows.set(oid, { oid, tree, parents });
  }
  return new Map(
    oids.stdout
      .toString()
      .trimEnd()
      .split('\n')
      .map((oid, i) => [names[i]!, rows.get(oid)!]),
  );
}

test('merges and squashes have the trees of git merge, and what conflicts there moves nothing', async () => {
  const scratch = new GitFixture();
  fixtures.push(scratch);
  const cases = generateMerges(scratch, 41, MERGES);
  const found = await compareMerges('generated', cases, (git) => void generateMerges(git, 41, MERGES));
  expect(found.differences).toEqual([]);
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
      const all = await git.lines(join(folder!, name), 'rev-list', '--branches', ...two, '--parents');
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
      expect(found.differences).toEqual([]);
      expect(Math.min(found.merged, found.refused), JSON.stringify(found)).toBeGreaterThan(0);
    },
  );
});
