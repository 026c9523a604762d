import { asBuffer } from '../../bytes/as-buffer.ts';
import { batchMisses, readAhead } from '../batch-misses.ts';
import type { ObjectStore, SyncObjects } from '../objects.ts';
import { type Entry, GITLINK } from '../tree/entry.ts';
import type { RawPath } from '../tree/path.ts';
import { inTurns, Pace, type Steps } from '../work.ts';
import { countLines } from './line-table.ts';
import { countChanges, type LineCounts } from './lines.ts';
import type { StepBudget } from './myers.ts';
import type { TreeChange } from './tree-diff.ts';

export interface FileStats extends LineCounts {
  readonly path: RawPath;
  /** Lines are not counted; `-` in `git diff --numstat`. */
  readonly binary: boolean;
}

/** Larger files count as binary and are not read. */
export const MAX_FILE_BYTES = 16 * 1024 * 1024;
/** Files, and bytes of files, read per comparison; the rest are not counted. */
export const MAX_STAT_FILES = 10_000;
const MAX_STAT_BYTES = 256 * 1024 * 1024;
/** Steps for aligning all files of a comparison: see {@link StepBudget}. */
const MAX_STAT_STEPS = 600_000_000;

/** Counts file by file, as far as {@link MAX_STAT_BYTES} allows. */
export async function statFiles(
  store: ObjectStore,
  changes: readonly TreeChange[],
  signal?: AbortSignal,
): Promise<{ files: FileStats[]; complete: boolean }> {
  const files: FileStats[] = [];
  const budget = { steps: MAX_STAT_STEPS };
  let bytes = 0;
  const pace = new Pace();
  while (files.length < changes.length && bytes <= MAX_STAT_BYTES) {
    signal?.throwIfAborted();
    if (pace.due()) await pace.rest(signal);
    const change = changes[files.length]!;
    const next = () => changes.slice(files.length + 1, files.length + READ_AHEAD);
    const [oldText, newText] = await store.run((objects) =>
      readAhead(change, next, (one) => {
        const small = one === change ? Number.POSITIVE_INFINITY : SMALL;
        return batchMisses([one.old, one.new], (entry) => readText(objects, entry, small));
      }),
    );
    const counts = await inTurns(compare(change, oldText, newText, budget), signal);
    files.push({ path: change.path, ...counts });
    bytes += (oldText?.length ?? 0) + (newText?.length ?? 0);
  }
  return { files, complete: files.length === changes.length };
}

/** Number of files prefetched when one of them is missing, and their maximum size. */
const READ_AHEAD = 32;
const SMALL = 256 * 1024;

const NOTHING = new Uint8Array(0);
const BINARY = { additions: 0, deletions: 0, binary: true };

function* compare(
  change: TreeChange,
  oldText: Uint8Array | undefined,
  newText: Uint8Array | undefined,
  budget: StepBudget,
): Steps<Omit<FileStats, 'path'>> {
  if (change.old && change.old.oid === change.new?.oid) {
    return { additions: 0, deletions: 0, binary: oldText === undefined || isBinary(oldText) };
  }
  if (oldText === undefined || newText === undefined || isBinary(oldText) || isBinary(newText)) return BINARY;
  if (newText.length === 0) return { additions: 0, deletions: countLines(oldText), binary: false };
  if (oldText.length === 0) return { additions: countLines(newText), deletions: 0, binary: false };
  return { ...(yield* countChanges(oldText, newText, budget)), binary: false };
}

/** The content that git compares; for a submodule one line of text. Undefined when the file is too large to read. */
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
