import { createHash } from 'node:crypto';
import type { ObjectStore } from '../objects.ts';
import type { Oid } from '../oid.ts';
import { plainChange } from './changes.ts';
import { diffFiles } from './patch.ts';
import type { TreeChange } from './tree-diff.ts';

/**
 * The paths of a change, for a first comparison of patches: those with different ones differ. Modes do not count, as in
 * `git patch-id`.
 */
export function patchPaths(changes: readonly TreeChange[]): string {
  return changes
    .map(({ path, old, new: after }) => `${old ? 'M' : 'A'}${after ? 'M' : 'D'}${path}`)
    .join('\0');
}

/**
 * What `git rev-list --cherry-pick` compares: the patch without line numbers and white space. Files that are too large
 * to be compared by lines count by their ids.
 */
export async function patchId(
  store: ObjectStore,
  changes: readonly TreeChange[],
  signal?: AbortSignal,
): Promise<string> {
  const hash = createHash('sha1');
  hash.update(patchPaths(changes));
  const limits = {
    files: changes.length,
    fileBytes: MAX_BYTES,
    totalBytes: MAX_BYTES,
    totalLines: MAX_LINES,
  };
  const { files } = await diffFiles(store, changes.map(plainChange), {
    ...limits,
    ...(signal ? { signal } : {}),
  });
  for (const file of files) {
    const exact = file.binary || file.tooLarge || file.collapsed;
    hash.update(exact ? idsOf(file.oldId, file.newId) : significant(file.text));
  }
  return hash.digest('hex');
}

const MAX_BYTES = 16 << 20;
const MAX_LINES = 500_000;

function idsOf(old: Oid, after: Oid): string {
  return `\0${old} ${after}\0`;
}

/** The lines of hunks, without white space, headers of hunks, and notes about missing line ends. */
function significant(text: Buffer): string {
  return text
    .toString('latin1')
    .replace(/^(?:@@|\\).*\n?/gm, '')
    .replace(/[ \t\n\v\f\r]+/g, '');
}
