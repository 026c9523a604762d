import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commitGraphBuilder } from '../../lib/git/commit-graph/build.ts';
import { MemoryRepository } from '../../lib/git/memory.ts';
import { type Oid, ZERO_OID } from '../../lib/git/oid.ts';
import { PackStore } from '../../lib/git/pack/store.ts';
import type { RefUpdate } from '../../lib/git/ports.ts';
import type { RefName } from '../../lib/git/refname.ts';

/** A bare repository on disk, for git, and its copy behind the two ports. */
export class GitFixture {
  readonly directory = mkdtempSync(join(tmpdir(), 'lemnos-git-'));

  constructor() {
    this.git('init', '--quiet', '--bare', '--initial-branch=main', '.');
  }

  /** Runs git here, without the machine's configuration. @returns its output, one character per byte */
  git(...args: string[]): string {
    return this.feed('', ...args);
  }

  feed(input: string, ...args: string[]): string {
    return execFileSync('git', args, {
      cwd: this.directory,
      input: Buffer.from(input, 'latin1'),
      encoding: 'latin1',
      maxBuffer: 1 << 28,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        HOME: this.directory,
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_AUTHOR_NAME: 'A U Thor',
        GIT_AUTHOR_EMAIL: 'author@example.com',
        GIT_AUTHOR_DATE: '1700000000 +0100',
        GIT_COMMITTER_NAME: 'C O Mitter',
        GIT_COMMITTER_EMAIL: 'committer@example.com',
        GIT_COMMITTER_DATE: '1700000000 +0100',
      },
    });
  }

  lines(...args: string[]): string[] {
    const text = this.git(...args);
    return text === '' ? [] : text.replace(/\n$/, '').split('\n');
  }

  oid(revision: string): Oid {
    return this.git('rev-parse', '--verify', '--quiet', '--end-of-options', revision).trim() as Oid;
  }

  /** The current repository in memory: git's packs and refs. */
  async load(): Promise<{ repository: MemoryRepository; store: PackStore }> {
    this.git('repack', '-adq');
    const head = this.git('symbolic-ref', 'HEAD').trim() as RefName;
    const repository = new MemoryRepository({ head });
    const folder = join(this.directory, 'objects/pack');
    const packs = [];
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.pack'))) {
      const pack = readFileSync(join(folder, file));
      const index = readFileSync(join(folder, file.replace(/pack$/, 'idx')));
      const objectCount = pack.readUInt32BE(8);
      packs.push(
        await repository.objects.newPack({ kind: 'bytes', pack, index }, { source: 'receive', objectCount }),
      );
    }
    const format = '--format=%(refname)%09%(objectname)%09%(*objectname)';
    const refs = this.lines('for-each-ref', format).map((line): RefUpdate => {
      const [name, to, peeled] = line.split('\t') as [RefName, Oid, Oid | ''];
      return { name, from: ZERO_OID, to, ...(peeled === '' ? {} : { peeled }) };
    });
    await repository.refs.compareAndSwap(refs, { packs });
    return { repository, store: new PackStore(repository.objects) };
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Adds a commit-graph of what these tips (default: all refs) reach to the repository. @returns its bytes */
export async function keepGraph(repository: MemoryRepository, tips?: readonly Oid[]): Promise<Uint8Array> {
  const name = 'refs/heads/tip' as RefName;
  const some = (tips ?? []).map((oid) => ({ name, oid }));
  const view = async () => ({
    head: name,
    async *refs() {
      yield some;
    },
  });
  const refs = { ...repository.refs, view };
  const made = await commitGraphBuilder.build({
    store: new PackStore(repository.objects),
    refs: tips === undefined ? repository.refs : refs,
    packs: [],
    deadline: Number.POSITIVE_INFINITY,
    stopsAt: Number.POSITIVE_INFINITY,
  });
  await repository.storeDerived('commit-graph', made!.content, { packs: [], objects: 0, note: '' });
  return (made!.content as { bytes: Uint8Array }).bytes.subarray(0, made!.content.size);
}

/** Deterministic pseudo-random numbers (mulberry32). */
export function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

const PATHS = [
  'README',
  'a/b',
  'a/b/c',
  'a.b',
  'a-b/x',
  'lib/deep/er/file.ts',
  'lib/deep/other.ts',
  'lib/z',
  'link',
  'sub/module',
  'caf\xc3\xa9/\xc3\xbc.txt',
  'raw\xff\xfename',
  'dir\xe9/x\xc3',
  'run.sh',
];

/** Paths of a generated history for queries, including directories; one character per byte. */
export const ASKED_PATHS = [
  'README',
  'a',
  'a/b',
  'lib',
  'lib/deep',
  'lib/z',
  'sub/module',
  'dir\xe9',
  'never/was',
];

/**
 * Makes a history with merges, octopus merges, criss-crosses, several roots, renames, changes of mode and type,
 * symlinks, submodules, empty commits, names that are not UTF-8, equal dates, and (`skew`) wrong clocks.
 */
export function generateHistory(
  fixture: GitFixture,
  options: { seed: number; commits: number; skew: boolean },
): void {
  const pick = random(options.seed);
  const trees: Map<string, { mode: string; data: string }>[] = [];
  const heads: number[] = [];
  let clock = 1_600_000_000;
  let stream = '';
  for (let n = 0; n < options.commits; n++) {
    const parents = chooseParents(pick, heads, n);
    const tree = new Map(parents.length > 0 ? trees[parents[0]!] : []);
    for (const other of parents.slice(1)) {
      for (const [path, file] of trees[other]!) if (pick(2) === 0) put(tree, path, file);
      for (const path of [...tree.keys()]) if (!trees[other]!.has(path) && pick(3) === 0) tree.delete(path);
    }
    const edits = pick(6) === 0 ? 0 : parents.length > 1 ? pick(2) : 1 + pick(3);
    for (let i = 0; i < edits; i++) edit(pick, tree, n);
    trees.push(tree);
    clock += pick(3) === 0 ? 0 : pick(100);
    const date = options.skew && pick(5) === 0 ? clock - pick(20_000) : clock;
    stream += `commit refs/heads/b${n}\nmark :${n + 1}\n`;
    stream += `author A U Thor <author@example.com> ${clock} +0100\ncommitter C <c@example.com> ${date} -0330\n`;
    stream += data(`commit ${n}\n`);
    for (const [i, parent] of parents.entries()) stream += `${i === 0 ? 'from' : 'merge'} :${parent + 1}\n`;
    stream += 'deleteall\n';
    for (const [path, file] of tree) {
      stream +=
        file.mode === '160000'
          ? `M 160000 ${file.data} ${path}\n`
          : `M ${file.mode} inline ${path}\n${data(file.data)}`;
    }
    stream += '\n';
  }
  fixture.feed(stream, 'fast-import', '--quiet', '--force');
  const tip = (n: number) => `refs/heads/b${Math.max(0, n)}`;
  fixture.git('update-ref', 'refs/heads/main', tip(options.commits - 1));
  fixture.git('tag', 'light', tip(options.commits >> 1));
  fixture.git('tag', '-a', '-m', 'annotated', 'annotated', tip(options.commits >> 2));
  fixture.git('tag', '-a', '-m', 'twice', 'nested', 'annotated');
}

function chooseParents(pick: (below: number) => number, heads: number[], n: number): number[] {
  const roll = pick(100);
  const wanted = n === 0 || roll < 2 ? 0 : roll < 72 ? 1 : roll < 94 ? 2 : 3;
  const parents = new Set<number>();
  for (let i = 0; i < wanted; i++) parents.add(heads[pick(heads.length)]!);
  // Parents mostly stop being heads, but not always, which makes criss-cross merges.
  for (const parent of parents) if (heads.length > 4 && pick(3) > 0) heads.splice(heads.indexOf(parent), 1);
  heads.push(n);
  return [...parents];
}

function edit(
  pick: (below: number) => number,
  tree: Map<string, { mode: string; data: string }>,
  n: number,
): void {
  const path = PATHS[pick(PATHS.length)]!;
  const old = tree.get(path);
  const roll = pick(10);
  if (old && roll === 0) tree.delete(path);
  else if (old && roll === 1) {
    tree.delete(path);
    put(tree, `moved/${pick(5)}`, old);
  } else if (path === 'link')
    put(tree, path, { mode: pick(4) ? '120000' : '100644', data: `target ${pick(3)}` });
  else if (path === 'sub/module') put(tree, path, { mode: '160000', data: String(1 + pick(4)).repeat(40) });
  else if (old && roll === 2) put(tree, path, { ...old, mode: old.mode === '100755' ? '100644' : '100755' });
  else put(tree, path, { mode: old?.mode ?? '100644', data: change(pick, old?.data ?? '', n) });
}

function change(pick: (below: number) => number, old: string, n: number): string {
  if (pick(20) === 0) return `binary\0${n}`;
  const lines = old.split('\n');
  for (let i = 0; i < 1 + pick(4); i++) {
    const at = pick(lines.length + 1);
    lines.splice(at, pick(3), ...Array.from({ length: pick(4) }, () => `line ${pick(8)}`));
  }
  return lines.join('\n');
}

/** Adds a file, and removes entries that conflict with it. */
function put(
  tree: Map<string, { mode: string; data: string }>,
  path: string,
  file: { mode: string; data: string },
): void {
  for (const other of tree.keys()) {
    if (other.startsWith(`${path}/`) || path.startsWith(`${other}/`)) tree.delete(other);
  }
  tree.set(path, file);
}

function data(text: string): string {
  return `data ${text.length}\n${text}\n`;
}
