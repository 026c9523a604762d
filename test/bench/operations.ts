import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { archive } from '../../lib/git/archive.ts';
import { formatPatch } from '../../lib/git/diff/patch.ts';
import type { Oid } from '../../lib/git/oid.ts';
import { PackCache } from '../../lib/git/pack/pack-cache.ts';
import { PackStore } from '../../lib/git/pack/store.ts';
import { parseCommitLinks } from '../../lib/git/parse.ts';
import type { RefDatabase } from '../../lib/git/ref-database.ts';
import { GitRepository } from '../../lib/git/repository.ts';
import { entryAtPath } from '../../lib/git/tree/entry.ts';
import { encodePath } from '../../lib/git/tree/path.ts';
import { packsOf } from '../git/repository-files.ts';
import { GIT_ENVIRONMENT, git, lines } from './git.ts';

/** The same operation with this library and with git. The repository is opened for each run, with cached blocks. */
export interface Operation {
  readonly name: string;
  readonly runs: number;
  readonly target?: number;
  ours(): Promise<unknown>;
  /** Absent if there is no such git command. */
  readonly git?: () => unknown;
}

/** Diffs without limits. */
const UNLIMITED = { files: 1e6, fileBytes: 1e9, totalBytes: 1e9, totalLines: 1e9 } as const;

/** Operations of single requests that read or write much of a repository. */
export function operationsOn(directory: string): readonly Operation[] {
  const objects = packsOf(directory);
  const store = new PackStore(objects, { cache: new PackCache() });
  // Refs are not needed: commits are named by id.
  const open = () => new GitRepository({ objects, refs: undefined as unknown as RefDatabase, store });
  const head = oidOf(directory, 'HEAD');
  const merges = lines(directory, 'rev-list', '--merges', '-n200', head) as Oid[];
  const sides = merges
    .slice(0, 20)
    .map((merge) => [oidOf(directory, `${merge}^1`), oidOf(directory, `${merge}^2`)]);
  const before = oidOf(directory, `${merges.at(-1)}^1`);
  const farther = commitBefore(directory, head, 200);
  const [largest, smaller] = filesToBlame(directory, head);

  const blame = async (path: string) => {
    const raw = encodePath(path)!;
    const entry = await store.run((read) =>
      entryAtPath(read, parseCommitLinks(read.read(head).data).tree, raw),
    );
    return open().history.blame(head, { path: raw, entry: entry! });
  };
  return [
    {
      name: 'blame of a large file',
      runs: 3,
      target: 2.5,
      ours: () => blame(largest),
      git: () => git(directory, 'blame', '--porcelain', head, '--', largest),
    },
    {
      name: 'blame of ten small files',
      runs: 3,
      target: 4.5,
      ours: async () => {
        for (const path of smaller) await blame(path);
      },
      git: () => smaller.map((path) => git(directory, 'blame', '--porcelain', head, '--', path)),
    },
    {
      name: 'three-way merge, twenty',
      runs: 3,
      ours: async () => {
        for (const [ours, theirs] of sides) await open().merge(ours!, theirs!);
      },
      git: () => mergeTrees(directory, sides),
    },
    {
      name: 'verdict on a merge, twenty',
      runs: 3,
      target: 1.5,
      ours: async () => {
        for (const [target, source] of sides) await (await open().merging()).check(target!, source!);
      },
      git: () => mergeTrees(directory, sides),
    },
    {
      name: 'cherry-pick, twenty',
      runs: 3,
      ours: async () => {
        for (const [onto, commit] of sides) await open().cherryPick({ commit: commit!, onto: onto! });
      },
    },
    {
      name: 'diff over 200 merges, as patches',
      runs: 3,
      ours: async () => (await open().diff(before, head, UNLIMITED)).files.map(formatPatch),
      git: () => git(directory, 'diff', '-M', before, head),
    },
    {
      name: 'diff of 200 files or more, as patches',
      runs: 7,
      target: 1.5,
      ours: async () => (await open().diff(farther, head, UNLIMITED)).files.map(formatPatch),
      git: () => git(directory, 'diff', '-M', farther, head),
    },
    {
      name: 'zip archive',
      runs: 3,
      target: 1,
      ours: async () => {
        let bytes = 0;
        for await (const piece of (await archive(store, {
          commit: head,
          prefix: 'x',
          format: 'zip',
        }))!.read())
          bytes += piece.length;
        return bytes;
      },
      git: () => git(directory, 'archive', '--format=zip', '--prefix=x/', head),
    },
  ];
}

/** A commit of the main line, not much older than needed, from which so many files have changed since. */
export function commitBefore(directory: string, head: Oid, files: number): Oid {
  const line = lines(directory, 'rev-list', '--first-parent', head) as Oid[];
  for (let back = 8; ; back = Math.ceil(back * 1.3)) {
    const commit = line[Math.min(back, line.length - 1)]!;
    const changed = lines(directory, 'diff', '--name-only', commit, head).length;
    if (changed >= files || back >= line.length) return commit;
  }
}

/** Writes objects to another directory. A conflict is a valid result. */
function mergeTrees(directory: string, sides: readonly (readonly Oid[])[]): void {
  const written = mkdtempSync(join(tmpdir(), 'lemnos-bench-written-'));
  const env = {
    ...GIT_ENVIRONMENT,
    GIT_OBJECT_DIRECTORY: written,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: join(directory, 'objects'),
  };
  try {
    for (const pair of sides) {
      const run = spawnSync('git', ['merge-tree', '--write-tree', ...pair], { cwd: directory, env });
      if (run.status !== 0 && run.status !== 1) throw new Error(`git merge-tree: ${run.stderr}`);
    }
  } finally {
    rmSync(written, { recursive: true, force: true });
  }
}

const oidOf = (directory: string, revision: string) =>
  git(directory, 'rev-parse', revision).toString().trim() as Oid;

/** The file with the most lines below a size limit, and ten average ones. */
function filesToBlame(directory: string, head: Oid): [string, string[]] {
  const files = lines(directory, 'ls-tree', '-r', '-l', head)
    .map((line) => /^100\d+ blob \w+ +(\d+)\t([\w./-]+\.(?:c|h|js|ts|txt|md|sh))$/.exec(line))
    .flatMap((match) => (match === null ? [] : [{ size: Number(match[1]), path: match[2]! }]))
    .filter(({ size }) => size < 200_000)
    .sort((a, b) => b.size - a.size);
  const small = files.filter(({ size }) => size < 8_000 && size > 1_000);
  const step = Math.max(1, Math.floor(small.length / 10));
  return [
    files[0]!.path,
    Array.from({ length: Math.min(10, small.length) }, (_, i) => small[i * step]!.path),
  ];
}
