import type { DerivedFile, DerivedKind, PackDescription } from '../ports.ts';

/** Whether a file is to be made anew, judged from the listing alone. */
type IsDue = (
  packs: readonly PackDescription[],
  file: DerivedFile | undefined,
  others: (kind: DerivedKind) => DerivedFile | undefined,
) => boolean;

/**
 * By kind. Apart from the builders (`derive.ts`), because every request that lists a pack asks: one push may be all
 * that a repository ever gets.
 */
const DUE: Partial<Record<DerivedKind, IsDue>> = {
  // Of about 300 commits. A walk reads some 25 of them in the time of one trip to the storage.
  'commit-graph': (packs, file) => hasGrown(packs, file, { least: 1000, share: 0.05 }),
  'object-index': (packs, file) => isUncovered(packs, file),
  // A tip that moved on shares most of its trees with the one that is listed.
  tip: (packs, file) => hasGrown(packs, file, { least: 1000, share: 0.002 }),
  // What a client fetches behind a bundle costs little against what it spares.
  bundle: (packs, file) => {
    const bytes = packs.reduce((sum, { packSize }) => sum + packSize, 0);
    if (bytes < BUNDLE_LEAST || bytes > BUNDLE_MOST) return false;
    return hasGrown(packs, file, { least: 0, share: 0.2 });
  },
  // It counts in the index, so each new index needs a new one.
  bitmap: (packs, file, others) => {
    const index = others('object-index');
    return isUncovered(packs, index) || (index !== undefined && file?.madeFrom.note !== index.id);
  },
};

/** Bytes of packs: what is smaller is soon cloned, and what is larger does not fit a function's scratch disk. */
const BUNDLE_LEAST = 10 * 2 ** 20;
const BUNDLE_MOST = 400 * 2 ** 20;

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
  return (Object.keys(DUE) as DerivedKind[]).filter((kind) => DUE[kind]!(live, derived(kind), derived));
}

export const objectsIn = (packs: readonly PackDescription[]): number =>
  packs.reduce((sum, { objectCount }) => sum + objectCount, 0);

/**
 * Whether the packs hold so many more objects, or fewer, than when the file was made: each object is then read a
 * constant number of times for it, whatever the size of the repository.
 * @param least objects of a repository that needs one at all
 */
function hasGrown(
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

/** Below it an index for all packs, and closures over it, are not worth their keep. */
const INDEXED_LEAST = 2000;
/** Of the objects: so many may lie in packs that the index does not know. */
const UNCOVERED_SHARE = 0.1;

/** Whether too much lies in packs that a file was not made from: pushed since, or merged. */
function isUncovered(packs: readonly PackDescription[], file: DerivedFile | undefined): boolean {
  const now = objectsIn(packs);
  if (now > MOST_OBJECTS || now < INDEXED_LEAST) return false;
  if (file === undefined) return true;
  const covered = new Set(file.madeFrom.packs);
  const outside = objectsIn(packs.filter(({ id }) => !covered.has(id)));
  return outside > Math.max(INDEXED_LEAST / 2, UNCOVERED_SHARE * now);
}
