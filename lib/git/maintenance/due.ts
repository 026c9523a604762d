import type { DerivedFile, DerivedKind, PackDescription } from '../ports.ts';

/** Whether a file has to be rebuilt, decided from the listing, and whether somebody asked for one. */
export type IsDue = (
  packs: readonly PackDescription[],
  file: DerivedFile | undefined,
  others: (kind: DerivedKind) => DerivedFile | undefined,
  isAsked: boolean,
) => boolean;

/**
 * By kind. Not part of the builders (`derive.ts`), because every request that lists a pack needs it: a repository may
 * get no other push.
 */
const DUE: Partial<Record<DerivedKind, IsDue>> = {
  // 1,000 objects are about 300 commits. A walk reads about 25 commits in the time of one storage request.
  'commit-graph': (packs, file) => hasGrown(packs, file, { min: 1000, share: 0.05 }),
  'object-index': (packs, file) => isUncovered(packs, file),
  // The current tip shares most of its trees with the listed one.
  tip: (packs, file) => hasGrown(packs, file, { min: 1000, share: 0.002 }),
  // As large as the packs, and few clients use it. Fetching what it lacks costs little compared with what it saves.
  bundle: (packs, file, _, isAsked) =>
    (file !== undefined || isAsked) && fitsBundle(packs) && hasGrown(packs, file, { min: 0, share: 0.2 }),
  // Its bit positions are those of the index, so each new index needs a new bitmap.
  bitmap: (packs, file, others) => {
    const index = others('object-index');
    const lacks = index !== undefined && !isRefused(index) && !file?.provenance.note.endsWith(index.id);
    return isUncovered(packs, index) || lacks;
  },
};

/** Bytes of packs: less is cloned quickly, and more does not fit the scratch disk of a Lambda function. */
const MIN_BUNDLE_BYTES = 10 * 2 ** 20;
const MAX_BUNDLE_BYTES = 400 * 2 ** 20;

/** Prefix of a builder's note: the deadline passed first, so the file is usable but due again. */
export const UNFINISHED = 'unfinished';
/**
 * Prefix of the note of an empty file: none can be made of these objects. It is tried again when one would be made anew, of
 * others.
 */
export const REFUSED = 'refused';
export const isRefused = ({ provenance }: DerivedFile): boolean => provenance.note.startsWith(REFUSED);
/** With more objects, nothing is derived: each takes about 200 bytes of memory. */
const MAX_OBJECTS = 4_000_000;

/** Whether packs of this size, without garbage, have a bundle. */
export function fitsBundle(packs: readonly PackDescription[]): boolean {
  const bytes = packs.reduce((sum, { packSize }) => sum + packSize, 0);
  return bytes >= MIN_BUNDLE_BYTES && bytes <= MAX_BUNDLE_BYTES;
}

/**
 * The files that have to be rebuilt.
 *
 * @param packs all listed packs, garbage included
 * @param asked kinds that are made only when somebody asks for them, and were asked for
 */
export function dueKinds(
  packs: readonly PackDescription[],
  derived: (kind: DerivedKind) => DerivedFile | undefined,
  asked: readonly DerivedKind[] = [],
): DerivedKind[] {
  const live = packs.filter(({ source }) => source !== 'unreachable-garbage');
  return (Object.keys(DUE) as DerivedKind[]).filter((kind) =>
    DUE[kind]!(live, derived(kind), derived, asked.includes(kind)),
  );
}

export const objectsIn = (packs: readonly PackDescription[]): number =>
  packs.reduce((sum, { objectCount }) => sum + objectCount, 0);

/**
 * Whether the number of objects has changed by the given share since the file was built. So each object is read a
 * constant number of times on average, whatever the size of the repository.
 * @param min objects from which a repository needs the file at all
 */
function hasGrown(
  packs: readonly PackDescription[],
  file: DerivedFile | undefined,
  { min, share }: { readonly min: number; readonly share: number },
): boolean {
  const now = objectsIn(packs);
  if (now > MAX_OBJECTS) return false;
  if (file === undefined) return now >= min;
  if (file.provenance.note.startsWith(UNFINISHED)) return true;
  const then = file.provenance.objects;
  return Math.abs(now - then) > Math.max(min / 2, share * then);
}

/** With fewer objects, a merged index and a bitmap are not worth their cost. */
const MIN_INDEXED_OBJECTS = 2000;
/** Share of the objects that may be in packs that the index does not cover. */
const UNCOVERED_SHARE = 0.1;

/** Whether too many objects are in packs that the file was not built from: pushed or merged since. */
function isUncovered(packs: readonly PackDescription[], file: DerivedFile | undefined): boolean {
  const now = objectsIn(packs);
  if (now > MAX_OBJECTS || now < MIN_INDEXED_OBJECTS) return false;
  if (file === undefined) return true;
  const covered = new Set(file.provenance.packs);
  const outside = objectsIn(packs.filter(({ id }) => !covered.has(id)));
  return outside > Math.max(MIN_INDEXED_OBJECTS / 2, UNCOVERED_SHARE * now);
}
