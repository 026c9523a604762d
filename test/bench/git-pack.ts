/**
 * Packs against git itself: index a received pack, enumerate and send a full clone. Give a bare repository with
 * one pack (`git clone --bare`, `git repack -adf`). Bitmaps are not used, neither here nor by git.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createReadStream, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Oid } from '../../lib/git/oid.ts';
import { indexPack } from '../../lib/git/pack/index-pack.ts';
import { PackCache } from '../../lib/git/pack/pack-cache.ts';
import { PackStore } from '../../lib/git/pack/store.ts';
import { writePack } from '../../lib/git/pack/write.ts';
import { enumerate } from '../../lib/git/reachable.ts';
import { packsOf } from '../git/repository-files.ts';

export interface PackBench {
  readonly operation: string;
  /** Milliseconds: wall-clock time, and CPU time of all threads. */
  readonly ours: { readonly wall: number; readonly cpu: number };
  readonly git: { readonly wall: number; readonly cpu: number };
  /** Ratio of CPU times, which other load on the machine affects less. */
  readonly ratio: number;
  /** Peak memory of the process so far, in MB. */
  readonly peakMemory: number;
  /** Shows that both had the same result. */
  readonly check: string;
}

/** Indexes the repository's largest pack as if it were received. */
export async function benchIndexPack(repository: string): Promise<PackBench> {
  const pack = largestPack(repository);
  const directory = mkdtempSync(join(tmpdir(), 'bench-pack-'));
  try {
    const index = join(directory, 'git.idx');
    const git = timeGit(['index-pack', '--strict', '--threads=1', '-o', index, pack]);
    let same = false;
    const ours = await time(async () => {
      const indexed = await indexPack(createReadStream(pack, { highWaterMark: 1 << 20 }), {
        scratchDir: directory,
      });
      same = Buffer.compare(readFileSync(index), indexed.content.index) === 0;
      await indexed.discard();
    });
    return result('index-pack --strict', ours, git, same ? 'index identical' : 'INDEX DIFFERS');
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Enumerates everything that refs reach, then writes it as a pack: both cold, then warm. */
export async function benchClone(repository: string): Promise<PackBench[]> {
  const refs = execFileSync('git', ['-C', repository, 'for-each-ref', '--format=%(objectname)'], {
    encoding: 'utf8',
  });
  const include = refs.trim().split('\n') as Oid[];
  const cache = new PackCache({ blockBytes: 512 << 20 });
  const store = new PackStore(packsOf(repository), { cache });
  const listGit = timeGit(['-C', repository, 'rev-list', '--objects', '--all', '--count']);
  const withoutBitmap = ['-c', 'pack.useBitmaps=false'];
  const packGit = timeGit([
    ...withoutBitmap,
    ...['-C', repository, 'pack-objects', '--all', '--stdout', '-q', '--threads=1'],
  ]);
  const rows: PackBench[] = [];
  for (const state of ['cold', 'warm']) {
    let count = 0;
    let bytes = 0;
    const listed = await time(async () => {
      count = (await enumerate(store, { include })).count;
    });
    const sent = await time(async () => {
      const list = await enumerate(store, { include });
      // REF_DELTA, so that the pack is written entry by entry and not copied whole.
      for await (const chunk of writePack(store, list, { ofsDelta: false })) bytes += chunk.length;
    });
    rows.push(
      result(`rev-list --objects, ${state}`, listed, listGit, `${count} objects, git ${listGit.output}`),
    );
    rows.push(result(`pack of a full clone, ${state}`, sent, packGit, `${bytes} bytes`));
  }
  return rows;
}

function largestPack(repository: string): string {
  const directory = join(repository, 'objects/pack');
  const packs = readdirSync(directory).filter((name) => name.endsWith('.pack'));
  if (packs.length !== 1) throw new Error(`${repository} should have one pack, not ${packs.length}`);
  return join(directory, packs[0]!);
}

export async function time(work: () => Promise<void>): Promise<{ wall: number; cpu: number }> {
  const started = performance.now();
  const before = process.cpuUsage();
  await work();
  const used = process.cpuUsage(before);
  return { wall: performance.now() - started, cpu: (used.user + used.system) / 1000 };
}

export function timeGit(args: readonly string[]): { wall: number; cpu: number; output: string } {
  // The shell's `time` reports the CPU time of a child.
  const started = performance.now();
  const run = spawnSync(
    'bash',
    ['-c', 'TIMEFORMAT="%U %S"; time git "$@" </dev/null 2>/dev/null | tail -c 60', 'git', ...args],
    {
      encoding: 'utf8',
      maxBuffer: 1 << 30,
    },
  );
  const wall = performance.now() - started;
  const [user = 0, system = 0] = run.stderr.trim().split('\n').at(-1)!.split(' ').map(Number);
  return { wall, cpu: 1000 * (user + system), output: run.stdout.trim().slice(0, 60) };
}

function result(operation: string, ours: PackBench['ours'], git: PackBench['git'], check: string): PackBench {
  const peakMemory = Math.round(process.resourceUsage().maxRSS / 1024);
  return {
    operation,
    ours,
    git: { wall: git.wall, cpu: git.cpu },
    ratio: ours.cpu / git.cpu,
    peakMemory,
    check,
  };
}
