import { spawnSync } from 'node:child_process';
import { isDeepStrictEqual } from 'node:util';
import { archive } from '../../lib/git/archive.ts';
import { compareTrees } from '../../lib/git/diff/compare.ts';
import { formatPatch } from '../../lib/git/diff/patch.ts';
import { mergeCommits } from '../../lib/git/merge/commits.ts';
import { EMPTY_TREE, type Oid } from '../../lib/git/oid.ts';
import { parseCommitLinks } from '../../lib/git/parse.ts';
import { entryAtPath } from '../../lib/git/tree/entry.ts';
import { encodePath } from '../../lib/git/tree/path.ts';
import { collected, readZip, type Zip } from '../git/read-zip.ts';
import type { Sample } from './agreement.ts';
import { GIT_ENVIRONMENT, git, lines } from './git.ts';

const UNLIMITED = { files: 1e6, fileBytes: 1e9, totalBytes: 1e9, totalLines: 1e9 } as const;

/** Blame, patches, merges, archives. */
export async function agreeOnContent(sample: Sample): Promise<void> {
  await blames(sample);
  await patches(sample);
  await merges(sample);
  await archives(sample);
}

async function blames(sample: Sample): Promise<void> {
  const { directory, head, store } = sample;
  for (const path of sample.pick(sample.files, sample.few)) {
    const raw = encodePath(path)!;
    const entry = await store.run((objects) =>
      entryAtPath(objects, parseCommitLinks(objects.read(head).data).tree, raw),
    );
    const found = (await sample.history.blame(head, { path: raw, entry: entry! })).flatMap(
      ({ commit, start, end }) => Array<Oid>(end - start).fill(commit),
    );
    const expected = lines(directory, 'blame', '--porcelain', head, '--', path).flatMap(
      (line) => /^([0-9a-f]{40}) \d+ \d+/.exec(line)?.[1] ?? [],
    );
    const same = found.filter((oid, i) => oid === expected[i]).length;
    sample.compare('lines of blame', true, { same, all: Math.max(found.length, expected.length) });
  }
}

/** Patches of each commit relative to its first parent, with renames. */
async function patches(sample: Sample): Promise<void> {
  const { directory, store } = sample;
  for (const commit of sample.pick(sample.commits, sample.many)) {
    const { tree, parents } = await links(sample, commit);
    const before = parents[0] === undefined ? EMPTY_TREE : (await links(sample, parents[0])).tree;
    const { files } = await compareTrees(store, before, tree, UNLIMITED);
    // Skip patches of gigabytes.
    if (files.length > 2_000) continue;
    const ours = files.map((file) => formatPatch(file).toString('latin1'));
    const text = git(directory, 'diff-tree', '-r', '-p', '-M', '--full-index', before, tree).toString(
      'latin1',
    );
    const expected = text.split(/^(?=diff --git )/m).filter(Boolean);
    const theirs = new Set(expected);
    const same = ours.filter((patch) => theirs.has(patch)).length;
    sample.compare('patches of files', true, { same, all: Math.max(ours.length, expected.length) });
  }
}

async function links(sample: Sample, commit: Oid) {
  return parseCommitLinks((await sample.store.read(commit)).data);
}

/** Repeats merges of the history. */
export async function merges(sample: Sample, count = sample.many): Promise<void> {
  const { directory, head } = sample;
  const made = lines(
    directory,
    'rev-list',
    '--merges',
    '--min-parents=2',
    '--max-parents=2',
    '--parents',
    head,
  );
  for (const line of sample.pick(made, count)) {
    const [, ours, theirs] = line.split(' ') as [Oid, Oid, Oid];
    const labels = { ours, theirs };
    const merged = await mergeCommits(sample.store, sample.history, ours, theirs, { labels });
    const run = spawnSync('git', ['merge-tree', '--write-tree', ours, theirs], {
      cwd: directory,
      env: {
        ...GIT_ENVIRONMENT,
        GIT_OBJECT_DIRECTORY: sample.written,
        GIT_ALTERNATE_OBJECT_DIRECTORIES: `${directory}/objects`,
      },
      maxBuffer: 1 << 28,
    });
    if (run.status !== 0 && run.status !== 1) throw new Error(`git merge-tree: ${run.stderr}`);
    const clean = merged.conflicts.length === 0;
    sample.compare('verdicts of merges', clean === (run.status === 0));
    if (clean !== (run.status === 0)) process.stdout.write(`other verdict: ${ours} ${theirs}\n`);
    sample.compare('trees of merges', merged.tree === run.stdout.toString('latin1').slice(0, 40));
  }
}

async function archives(sample: Sample): Promise<void> {
  const { directory, store } = sample;
  const make = async (commit: Oid, format: 'tar' | 'zip') =>
    collected((await archive(store, { commit, prefix: 'p', format }))!.read());
  for (const commit of sample.pick(sample.commits, Math.max(2, sample.few >> 3))) {
    const expected = git(directory, 'archive', '--format=tar', '--prefix=p/', commit);
    sample.compare('archives, tar to the byte', (await make(commit, 'tar')).equals(expected));
    const ours = await readZip(await make(commit, 'zip'));
    const theirs = await readZip(git(directory, 'archive', '--format=zip', '--prefix=p/', commit));
    sample.compare('archives, members of zip', isDeepStrictEqual(told(ours, theirs), theirs));
  }
}

/** git writes modes only for symlinks and executables. */
function told(zip: Zip, by: Zip): Zip {
  const entries = zip.entries.map((entry, i) => (by.entries[i]?.mode === 0 ? { ...entry, mode: 0 } : entry));
  return { ...zip, entries };
}
