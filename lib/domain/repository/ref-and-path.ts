import type { RefDatabase } from '../../git/ref-database.ts';
import { branchRef, tagRef } from '../../git/refname.ts';

/** Segments of the longest ref name that is looked for. */
const MAX_REF_SEGMENTS = 20;

/**
 * Splits `<ref>/<path>`, where both may contain slashes: the longest branch or tag wins. Without one, the ref is the first
 * segment, which may be `HEAD` or a commit.
 */
export async function splitRefAndPath(
  refs: RefDatabase,
  text: string,
): Promise<{ readonly ref: string; readonly path: string }> {
  const segments = text.split('/');
  const starts = segments.slice(0, MAX_REF_SEGMENTS).map((_, i) => segments.slice(0, i + 1).join('/'));
  const namesOf = (start: string) => [branchRef(start), tagRef(start)].filter((name) => name !== undefined);
  const found = await refs.get(starts.flatMap(namesOf));
  const ref = starts.findLast((start) => namesOf(start).some((name) => found.has(name))) ?? segments[0]!;
  return { ref, path: text.slice(ref.length + 1) };
}
