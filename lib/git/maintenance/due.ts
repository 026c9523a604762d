import type { DerivedFile, DerivedKind, PackDescription } from '../ports.ts';

/** Whether a file is to be made anew, judged from the listing alone. */
export type IsDue = (packs: readonly PackDescription[], file: DerivedFile | undefined) => boolean;

/**
 * By kind. Apart from the builders (`derive.ts`), because every request that lists a pack asks: one push may be all
 * that a repository ever gets.
 */
const DUE: Partial<Record<DerivedKind, IsDue>> = {
  // Of about 300 commits. A walk reads some 25 of them in the time of one trip to the storage.
  'commit-graph': (packs, file) => hasGrown(packs, file, { least: 1000, share: 0.05 }),
};

/** A builder's note begins with this when it had no time for all: the file is of use, and due again. */
export const UNFINISHED = 'unfinished';
/** With more, nothing is derived: about 200 bytes of memory each. */
const MOST_OBJECTS = 4_000_000;

/** Which files are to be made anew. @param packs in use, garbage included */
export function dueKinds(
  packs: readonly PackDescription[],
  derived: (kind: DerivedKind) => DerivedFile | undefined,
): DerivedKind[] {
  const live = packs.filter(({ source }) => source !== 'garbage');
  return (Object.keys(DUE) as DerivedKind[]).filter((kind) => DUE[kind]!(live, derived(kind)));
}

export const objectsIn = (packs: readonly PackDescription[]): number =>
  packs.reduce((sum, { objectCount }) => sum + objectCount, 0);

/**
 * Whether the packs hold so many more objects, or fewer, than when the file was made: each object is then read a
 * constant number of times for it, whatever the size of the repository.
 * @param least objects of a repository that needs one at all
 */
export function hasGrown(
  packs: readonly PackDescription[],
  file: DerivedFile | undefined,
  { least, share }: { readonly least: number; readonly share: number },
): boolean {
  const now = objectsIn(packs);
  if (now > MOST_OBJECTS) return false;
  if (file === undefined) return now >= least;
  if (file.madeFrom.note.startsWith(UNFINISHED)) return true;
  const then = file.madeFrom.objects;
  return Math.abs(now - then) > Math.max(least / 2, share * then);
}
