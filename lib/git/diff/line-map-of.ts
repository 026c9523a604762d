import { batchMisses } from '../batch-misses.ts';
import type { ObjectStore } from '../objects.ts';
import { type Oid, ZERO_OID } from '../oid.ts';
import { inTurns } from '../work.ts';
import { diffTexts } from './hunks.ts';
import { LineMap } from './line-map.ts';
import { isBinary, MAX_FILE_BYTES } from './stats.ts';

/**
 * Which lines of two blobs are the same. {@link ZERO_OID} is a file that is not there: it has no lines.
 * @returns undefined when one of them is too large, or no text, or they differ too much
 */
export async function lineMapOf(
  store: ObjectStore,
  from: Oid,
  to: Oid,
  signal?: AbortSignal,
): Promise<LineMap | undefined> {
  const [old, after] = await store.run((objects) =>
    batchMisses([from, to], (id) => {
      if (id === ZERO_OID) return new Uint8Array(0);
      return objects.header(id).size > MAX_FILE_BYTES ? undefined : objects.read(id).data;
    }),
  );
  if (old === undefined || after === undefined || isBinary(old) || isBinary(after)) return undefined;
  const diff = await inTurns(diffTexts(old, after), signal);
  if (diff === undefined) return undefined;
  const { edits, oldStarts, newStarts } = diff;
  return new LineMap(edits, { old: oldStarts.length - 1, after: newStarts.length - 1 });
}
