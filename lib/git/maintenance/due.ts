import type { DerivedFile, DerivedKind, PackDescription } from '../ports.ts';

/** Whether a file is to be made anew, judged from the listing alone. */
export type IsDue = (packs: readonly PackDescription[], file: DerivedFile | undefined) => boolean;

/**
 * By kind. Apart from the builders (`derive.ts`), because every request that lists a pack asks: one push may be all
 * that a repository ever gets.
 */
const DUE: Partial<Record<DerivedKind, IsDue>> = {};

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
  if (file === undefined) return now >= least;
  const then = file.madeFrom.objects;
  return Math.abs(now - then) > Math.max(least / 2, share * then);
}
