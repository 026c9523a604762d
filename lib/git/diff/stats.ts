import { gather, readAhead } from '../gather.ts';
import type { ObjectStore, SyncObjects } from '../objects.ts';
import type { Oid } from '../oid.ts';
import { asBuffer, type Entry, GITLINK } from '../tree/entry.ts';
import type { RawPath } from '../tree/path.ts';
import { countLines } from './line-table.ts';
import { countChanges, type LineCounts } from './lines.ts';
import type { Effort } from './myers.ts';
import { diffTrees, type TreeChange } from './tree-diff.ts';

export interface FileStats extends LineCounts {
  readonly path: RawPath;
  /** No lines are counted: `-` in `git diff --numstat`. */
  readonly binary: boolean;
}

export interface DiffStats {
  readonly additions: number;
  readonly deletions: number;
  readonly total: number;
  /** A limit was reached: some file was counted roughly or not at all. */
  readonly approximate: boolean;
}

/** Files above this size count as binary, unread. */
export const MAX_FILE_BYTES = 16 * 1024 * 1024;
/** Files, and bytes of files, that one comparison reads; what is left over is not counted. */
const MAX_STAT_FILES = 10_000;
const MAX_STAT_BYTES = 256 * 1024 * 1024;
/** Steps that the alignment of all files of a comparison may take together: see {@link Effort}. */
const MAX_STAT_STEPS = 1_500_000_000;

/**
 * Lines added and deleted between two trees: `git diff --numstat --no-renames`. A moved file counts as
 * deleted and added; binary files count nothing.
 */
export async function diffStats(
  store: ObjectStore,
  oldTree: Oid,
  newTree: Oid,
  signal?: AbortSignal,
): Promise<DiffStats> {
  const options = { limit: MAX_STAT_FILES, ...(signal ? { signal } : {}) };
  const { changes, truncated } = await diffTrees(store, oldTree, newTree, options);
  const { files, complete } = await statFiles(store, changes, signal);
  let additions = 0;
  let deletions = 0;
  for (const file of files) {
    additions += file.additions;
    deletions += file.deletions;
  }
  const approximate = truncated || !complete || files.some((file) => file.approximate);
  return { additions, deletions, total: additions + deletions, approximate };
}

/** Counts file by file, as far as {@link MAX_STAT_BYTES} allows. */
export async function statFiles(
  store: ObjectStore,
  changes: readonly TreeChange[],
  signal?: AbortSignal,
): Promise<{ files: FileStats[]; complete: boolean }> {
  const files: FileStats[] = [];
  const effort = { steps: MAX_STAT_STEPS };
  let bytes = 0;
  while (files.length < changes.length && bytes <= MAX_STAT_BYTES) {
    signal?.throwIfAborted();
    await store.run((objects) => {
      const started = bytes;
      // One turn reads at most 4 MB, so that no diff holds up the rest for long.
      while (files.length < changes.length && bytes - started < 4 * 1024 * 1024) {
        const change = changes[files.length]!;
        const next = () => changes.slice(files.length + 1, files.length + READ_AHEAD);
        const [oldText, newText] = readAhead(change, next, (one) => {
          const small = one === change ? Number.POSITIVE_INFINITY : SMALL;
          return gather([one.old, one.new], (entry) => readText(objects, entry, small));
        });
        files.push({ path: change.path, ...compare(change, oldText, newText, effort) });
        bytes += (oldText?.length ?? 0) + (newText?.length ?? 0);
      }
    });
  }
  return { files, complete: files.length === changes.length };
}

/** Files looked at together when one of them has to be fetched, and up to which size. */
const READ_AHEAD = 32;
const SMALL = 256 * 1024;

const NOTHING = new Uint8Array(0);
const BINARY = { additions: 0, deletions: 0, binary: true };

function compare(
  change: TreeChange,
  oldText: Uint8Array | undefined,
  newText: Uint8Array | undefined,
  effort: Effort,
) {
  if (change.old && change.old.oid === change.new?.oid) {
    return { additions: 0, deletions: 0, binary: oldText === undefined || isBinary(oldText) };
  }
  if (oldText === undefined || newText === undefined || isBinary(oldText) || isBinary(newText)) return BINARY;
  if (newText.length === 0) return { additions: 0, deletions: countLines(oldText), binary: false };
  if (oldText.length === 0) return { additions: countLines(newText), deletions: 0, binary: false };
  return { ...countChanges(oldText, newText, effort), binary: false };
}

/** What git compares of an entry: a submodule is one line of text. Undefined when the file is too large to read. */
function readText(objects: SyncObjects, entry: Entry | undefined, small: number): Uint8Array | undefined {
  if (entry === undefined) return NOTHING;
  if (entry.mode === GITLINK) return Buffer.from(`Subproject commit ${entry.oid}\n`);
  if (objects.header(entry.oid).size > Math.min(small, MAX_FILE_BYTES)) return undefined;
  return objects.read(entry.oid).data;
}

/** Git's test: a NUL among the first 8,000 bytes. */
export function isBinary(data: Uint8Array): boolean {
  return asBuffer(data).subarray(0, 8000).includes(0);
}
