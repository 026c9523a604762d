import { batchMisses, readAhead } from '../batch-misses.ts';
import type { ObjectStore, SyncObjects } from '../objects.ts';
import { type Oid, ZERO_OID } from '../oid.ts';
import { formatMode, GITLINK } from '../tree/entry.ts';
import type { RawPath } from '../tree/path.ts';
import { inTurns, Pace, type Steps } from '../work.ts';
import type { FileChange } from './changes.ts';
import { diffTexts, formatHunks } from './hunks.ts';
import { isBinary, MAX_FILE_BYTES } from './stats.ts';

/** A change with its text. */
export interface FileDiff extends FileChange {
  /** The content has NUL bytes; `text` is git's "Binary files differ" line. */
  readonly binary: boolean;
  /**
   * Unified text from the first `@@` on, in the file's own bytes; empty when only the name or the mode changed,
   * when it is binary, too large or collapsed.
   */
  readonly text: Buffer;
  readonly additions: number;
  readonly deletions: number;
  /** The text exceeds the limits for one file. */
  readonly tooLarge: boolean;
  /** Earlier files used up the limits for all files together. */
  readonly collapsed: boolean;
}

export interface DiffLimits {
  /** Number of files compared; the rest are left out. Default 1,000. */
  readonly files?: number;
  /** Bytes of text per file; above, a file is too large. Default 200 KiB. */
  readonly fileBytes?: number;
  /** Bytes of text for all files together; above, files are collapsed. Default 4 MiB. */
  readonly totalBytes?: number;
  /** Lines added and deleted in all files together; above, files are collapsed. Default 50,000. */
  readonly totalLines?: number;
  /** Context lines around an edit. Default 3. */
  readonly context?: number;
  readonly signal?: AbortSignal;
}

export interface FileDiffs {
  readonly files: readonly FileDiff[];
  /** There are more changes than {@link DiffLimits.files}, or than may be named. */
  readonly overflow: boolean;
}

/** Bytes of files read for one comparison. */
const MAX_READ = 256 * 1024 * 1024;
/** Characters of the paths of all files, old and new: of a thousand files, 500 for each. */
const MAX_NAMES = 1024 * 1024;
/** Steps that the alignment of all files may take together. */
const MAX_STEPS = 600_000_000;
const EMPTY = Buffer.alloc(0);
const NOTHING = new Uint8Array(0);

/**
 * The text of each change. A change of type is shown as two changes, as in git: the old file deleted, the new added.
 */
export async function diffFiles(
  store: ObjectStore,
  changes: readonly FileChange[],
  limits: DiffLimits = {},
): Promise<FileDiffs> {
  const { files: maxFiles = 1000, totalBytes = 4 << 20, totalLines = 50_000, signal } = limits;
  const shown = changes.slice(0, countNamed(changes, maxFiles));
  const parts = shown.flatMap(splitTypeChange);
  const diffs = new DiffRun(limits);
  const files: FileDiff[] = [];
  let [text, lines, read] = [0, 0, 0];
  const pace = new Pace();
  while (files.length < parts.length) {
    signal?.throwIfAborted();
    if (pace.due()) await pace.rest(signal);
    if (text >= totalBytes || lines >= totalLines || read >= MAX_READ) {
      files.push(notShown(parts[files.length]!, { collapsed: true }));
      continue;
    }
    const change = parts[files.length]!;
    const next = () => parts.slice(files.length + 1, files.length + READ_AHEAD);
    const [old, after] = await store.run((objects) =>
      readAhead(change, next, (one) =>
        batchMisses([oldSide, newSide], (side) => readSide(objects, side(one), one === change)),
      ),
    );
    const diff = await inTurns(diffs.compare(change, old, after), signal);
    files.push(diff);
    read += (old?.length ?? 0) + (after?.length ?? 0);
    text += diff.text.length;
    lines += diff.additions + diff.deletions;
  }
  return { files, overflow: changes.length > shown.length };
}

/** How many of the changes are named together: at least one. */
function countNamed(changes: readonly FileChange[], maxFiles: number): number {
  let left = MAX_NAMES;
  let count = 0;
  for (; count < Math.min(changes.length, maxFiles) && left > 0; count++)
    left -= changes[count]!.oldPath.length + changes[count]!.newPath.length;
  return count;
}

/** Number of files prefetched when one of them is missing, and their maximum size. */
const READ_AHEAD = 32;
const SMALL = 256 * 1024;

interface Side {
  readonly mode: number;
  readonly id: Oid;
}

const oldSide = (change: FileChange): Side => ({ mode: change.oldMode, id: change.oldId });
const newSide = (change: FileChange): Side => ({ mode: change.newMode, id: change.newId });

/** The content that git compares; for a submodule one line of text. Undefined when the file is too large to read. */
function readSide(objects: SyncObjects, { mode, id }: Side, asked: boolean): Uint8Array | undefined {
  if (mode === 0) return NOTHING;
  if (mode === GITLINK) return Buffer.from(`Subproject commit ${id}\n`);
  if (objects.header(id).size > (asked ? MAX_FILE_BYTES : SMALL)) return undefined;
  return objects.read(id).data;
}

class DiffRun {
  readonly #limits: DiffLimits;
  readonly #budget = { steps: MAX_STEPS };

  constructor(limits: DiffLimits) {
    this.#limits = limits;
  }

  *compare(change: FileChange, old: Uint8Array | undefined, after: Uint8Array | undefined): Steps<FileDiff> {
    const { fileBytes = 200 * 1024, context } = this.#limits;
    if (change.oldId === change.newId) return notShown(change, {});
    if (old === undefined || after === undefined) return notShown(change, { tooLarge: true });
    if (isBinary(old) || isBinary(after)) {
      const text = Buffer.from(`${binaryNotice(change)}\n`, 'latin1');
      return { ...notShown(change, {}), binary: true, text };
    }
    const diff = yield* diffTexts(old, after, { budget: this.#budget });
    if (diff === undefined) return notShown(change, { tooLarge: true });
    const { additions, deletions } = diff;
    const options = { maxBytes: fileBytes, ...(context === undefined ? {} : { context }) };
    const text = formatHunks(diff, old, after, options);
    if (text === undefined) return { ...notShown(change, { tooLarge: true }), additions, deletions };
    return { ...notShown(change, {}), text, additions, deletions };
  }
}

function notShown(change: FileChange, why: { tooLarge?: boolean; collapsed?: boolean }): FileDiff {
  const { tooLarge = false, collapsed = false } = why;
  return { ...change, binary: false, text: EMPTY, additions: 0, deletions: 0, tooLarge, collapsed };
}

function splitTypeChange(change: FileChange): FileChange[] {
  if (change.status !== 'T') return [change];
  return [
    { ...change, status: 'D', newMode: 0, newId: ZERO_OID },
    { ...change, status: 'A', oldMode: 0, oldId: ZERO_OID },
  ];
}

/** The whole patch of one file, headers included, as `git diff --full-index` prints it. */
export function formatPatch(diff: FileDiff): Buffer {
  const { oldMode, newMode, oldId, newId, oldPath, newPath, status } = diff;
  const head = [`diff --git ${quote(`a/${oldPath}`)} ${quote(`b/${newPath}`)}`];
  if (status === 'A') head.push(`new file mode ${formatMode(newMode)}`);
  else if (status === 'D') head.push(`deleted file mode ${formatMode(oldMode)}`);
  else if (oldMode !== newMode)
    head.push(`old mode ${formatMode(oldMode)}`, `new mode ${formatMode(newMode)}`);
  if (status === 'R' || status === 'C') {
    const verb = status === 'R' ? 'rename' : 'copy';
    head.push(`similarity index ${diff.similarity}%`);
    head.push(`${verb} from ${quote(oldPath)}`, `${verb} to ${quote(newPath)}`);
  }
  if (oldId !== newId) {
    head.push(`index ${oldId}..${newId}${oldMode === newMode ? ` ${formatMode(oldMode)}` : ''}`);
  }
  if (diff.text.length > 0 && !diff.binary) {
    head.push(`--- ${status === 'A' ? '/dev/null' : beforeTab('a/', oldPath)}`);
    head.push(`+++ ${status === 'D' ? '/dev/null' : beforeTab('b/', newPath)}`);
  }
  return Buffer.concat([Buffer.from(`${head.join('\n')}\n`, 'latin1'), diff.text]);
}

function binaryNotice({ status, oldPath, newPath }: FileChange): string {
  const old = status === 'A' ? '/dev/null' : quote(`a/${oldPath}`);
  const after = status === 'D' ? '/dev/null' : quote(`b/${newPath}`);
  return `Binary files ${old} and ${after} differ`;
}

/** Adds a tab after a name with a space, so that tools can find its end. */
function beforeTab(prefix: string, path: RawPath): string {
  const name = quote(prefix + path);
  return name.includes(' ') ? `${name}\t` : name;
}

/** Quotes a path as git does (git-config, `core.quotePath`). */
function quote(path: string): string {
  if (!/["\\\u0000-\u001f\u007f-\u00ff]/.test(path)) return path;
  const text = path.replace(/["\\\u0000-\u001f\u007f-\u00ff]/g, (character) => {
    const short = SHORT_ESCAPES.get(character);
    return short ?? `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`;
  });
  return `"${text}"`;
}

const SHORT_ESCAPES = new Map(
  Object.entries({
    '"': '\\"',
    '\\': '\\\\',
    '\u0007': '\\a',
    '\b': '\\b',
    '\t': '\\t',
    '\n': '\\n',
    '\v': '\\v',
    '\f': '\\f',
    '\r': '\\r',
  }),
);
