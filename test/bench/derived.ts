/** The effect of derived files: the Git library with and without them, and git. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bitmapBuilder } from '../../lib/git/bitmap/build-bitmap.ts';
import { BroughtObjects } from '../../lib/git/commit-graph/brought-objects.ts';
import { commitGraphBuilder } from '../../lib/git/commit-graph/build.ts';
import type { DerivedBuilder } from '../../lib/git/maintenance/derived-builder.ts';
import type { Oid } from '../../lib/git/oid.ts';
import { PackCache } from '../../lib/git/pack/pack-cache.ts';
import { PackStore } from '../../lib/git/pack/store.ts';
import { writePack } from '../../lib/git/pack/write.ts';
import { mergedIndexBuilder } from '../../lib/git/pack/write-merged-index.ts';
import type { DerivedFile, DerivedKind, ObjectDatabase } from '../../lib/git/ports.ts';
import { enumerate } from '../../lib/git/reachable.ts';
import type { RefDatabase } from '../../lib/git/ref-database.ts';
import { GitRepository } from '../../lib/git/repository.ts';
import { tipBuilder } from '../../lib/git/tree/build-tip.ts';
import { git as gitWith, packsOf } from '../git/repository-files.ts';
import { git, lines } from './git.ts';
import { time, timeGit } from './git-pack.ts';
import { knownRefs } from './known-refs.ts';
import { median, medians } from './measure.ts';
import type { Report } from './report.ts';
import type { Subject } from './subjects.ts';

export async function measureDerived(report: Report, subject: Subject): Promise<void> {
  const derived = new DerivedMemory(packsOf(subject.directory));
  const refs = knownRefs(subject.directory);
  const brought = new BroughtObjects();
  for (const builder of [commitGraphBuilder, mergedIndexBuilder, bitmapBuilder, tipBuilder]) {
    const made = await time(() => derived.make(builder, refs, brought));
    const operation = `making the ${builder.kind}, CPU`;
    report.row({ subject: subject.name, operation, unit: 'ms', ours: made.cpu });
    const size = derived.files.current(builder.kind)!.size;
    report.row({
      subject: subject.name,
      operation: `size of the ${builder.kind}`,
      unit: 'KB',
      ours: size / 1024,
    });
  }
  await clones(report, subject, derived);
  await tips(report, subject, derived);
  await lookups(report, subject);
}

/** Everything that refs reach, with bitmaps: git uses the one of `git repack`. */
async function clones(report: Report, { name, directory }: Subject, derived: DerivedMemory): Promise<void> {
  const include = [...new Set(lines(directory, 'for-each-ref', '--format=%(objectname)'))] as Oid[];
  const store = derived.store();
  const row = { subject: name, unit: 'ms' } as const;
  const listGit = timeGit([
    '-C',
    directory,
    'rev-list',
    '--objects',
    '--all',
    '--use-bitmap-index',
    '--count',
  ]);
  const packGit = timeGit(['-C', directory, 'pack-objects', '--all', '--stdout', '-q', '--threads=1']);
  for (const state of ['cold', 'warm']) {
    let count = 0;
    const listed = await time(async () => {
      count = (await enumerate(store, { include })).count;
    });
    const sent = await time(async () => {
      for await (const _ of writePack(store, await enumerate(store, { include })));
    });
    report.check(`${name}: objects by bitmap, ${state}`, String(count) === listGit.output.trim());
    const [ours, theirs] = [listed.cpu, listGit.cpu];
    report.row({ ...row, operation: `rev-list --objects by bitmap, ${state}, CPU`, ours, git: theirs });
    const operation = `pack of a full clone by bitmap, ${state}, CPU`;
    report.row({
      ...row,
      operation,
      ours: sent.cpu,
      git: packGit.cpu,
      ...(state === 'warm' ? { target: 2 } : {}),
    });
  }
}

async function tips(report: Report, { name, directory }: Subject, derived: DerivedMemory): Promise<void> {
  const head = git(directory, 'rev-parse', 'HEAD').toString().trim() as Oid;
  const list = (store: PackStore) =>
    new GitRepository({
      objects: store.database,
      refs: undefined as unknown as RefDatabase,
      store,
    }).listTree(head, { recursive: true, limit: 1_000_000 });
  const warm = derived.store();
  const row = { subject: name, unit: 'ms' } as const;
  const theirs = () => git(directory, 'ls-tree', '-r', head);
  const coldTimes = await medians(5, () => list(derived.store()), theirs);
  report.row({ ...row, operation: 'ls-tree -r by the tip, cold', ...coldTimes, target: 2.5 });
  const warmTimes = await medians(9, () => list(warm), theirs);
  report.row({ ...row, operation: 'ls-tree -r by the tip', ...warmTimes, target: 1 });
  const files = (await list(derived.store()))!.entries.filter(({ type }) => type !== 'tree');
  report.check(
    `${name}: ls-tree -r by the tip`,
    files.map(({ id }) => id).join() ===
      lines(directory, 'ls-tree', '-r', '--format=%(objectname)', head).join(),
  );
}

/** Reads one object of a repository with eight packs, without cache. */
async function lookups(report: Report, { name, directory }: Subject): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'bench-lookups-'));
  try {
    const folder = join(scratch, 'objects/pack');
    mkdirSync(folder, { recursive: true });
    const all = lines(directory, 'rev-list', '--objects', '--no-object-names', '--all');
    for (let i = 0; i < PACKS; i++) {
      const part = all.slice(
        Math.floor((i * all.length) / PACKS),
        Math.floor(((i + 1) * all.length) / PACKS),
      );
      gitWith(directory, ['pack-objects', '-q', '--window=0', join(folder, 'pack')], `${part.join('\n')}\n`);
    }
    const derived = new DerivedMemory(packsOf(scratch));
    await derived.make(mergedIndexBuilder, knownRefs(directory));
    for (const withIndex of [false, true]) {
      let next = 0;
      let reads = 0;
      const ours = await median(50, async () => {
        const store = derived.store(withIndex, () => reads++);
        await store.header(all[(next++ * 7919) % all.length] as Oid);
      });
      const operation = `cold lookup in ${PACKS} packs${withIndex ? ', merged index' : ''}`;
      report.row({ subject: name, operation, unit: 'ms', ours });
      report.row({ subject: name, operation: `${operation}: reads`, unit: 'reads', ours: reads / 50 });
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

const PACKS = 8;

/** Derived files in memory, packs on disk. */
class DerivedMemory {
  readonly #objects: ObjectDatabase;
  readonly #made = new Map<DerivedKind, { file: DerivedFile; bytes: Uint8Array }>();

  constructor(objects: ObjectDatabase) {
    this.#objects = objects;
  }

  readonly files = {
    current: (kind: DerivedKind) => this.#made.get(kind)?.file,
    open: ({ kind }: DerivedFile) => {
      const { bytes } = this.#made.get(kind)!;
      return {
        size: bytes.length,
        read: async (at: number, length: number) => bytes.subarray(at, at + length),
      };
    },
  };

  /** Without cache. */
  store(withFiles = true, onRead: () => void = () => {}): PackStore {
    const { files } = this;
    const counted = <T extends { read(at: number, length: number): Promise<Uint8Array> }>(access: T): T => ({
      ...access,
      read: (at: number, length: number) => {
        onRead();
        return access.read(at, length);
      },
    });
    const database: ObjectDatabase = {
      ...this.#objects,
      open: (pack, part) => counted(this.#objects.open(pack, part)),
      ...(withFiles ? { derived: { ...files, open: (file) => counted(files.open(file)) } } : {}),
    };
    return new PackStore(database, { cache: new PackCache({ blockBytes: 512 << 20 }) });
  }

  /** @param brought what commits bring, which the builder of the commit-graph notes for that of the bitmap */
  async make(builder: DerivedBuilder, refs: RefDatabase, brought?: BroughtObjects): Promise<void> {
    const packs = await this.#objects.listPacks();
    const store = this.store();
    const made = await builder.build({ store, refs, packs, deadline: Infinity, stopsAt: Infinity, brought });
    if (made?.content.kind !== 'bytes') throw new Error(`${builder.kind} was not made in memory`);
    const { bytes, size, checksumsCrc } = made.content;
    const provenance = { packs: packs.map(({ id }) => id), objects: 0, note: made.note };
    const file = {
      ...{ kind: builder.kind, id: builder.kind, size, provenance, location: '' },
      ...(checksumsCrc === undefined ? {} : { checksumsCrc }),
    };
    this.#made.set(builder.kind, { file, bytes });
  }
}
