import { batchMisses } from '../batch-misses.ts';
import { isRegular, typeOf } from '../diff/changes.ts';
import type { StepBudget } from '../diff/myers.ts';
import { isBinary, MAX_FILE_BYTES } from '../diff/stats.ts';
import { ZERO_OID } from '../oid.ts';
import { type Entry, GITLINK } from '../tree/entry.ts';
import { inTurns } from '../work.ts';
import type { ConflictKind, Labels, Stage } from './conflict.ts';
import type { Overlay } from './overlay.ts';
import { mergeTexts } from './text.ts';

/** The nesting depth in merges of merge bases, and the labels there. */
export interface MergeLevel {
  /** 0 for the requested merge; its merge bases are merged at 1, theirs at 2, ... */
  readonly depth: number;
  readonly labels: Labels;
  /** Shared by all files of a merge. */
  readonly budget: StepBudget;
}

export interface MergedEntry {
  /** Undefined for no entry: a symlink or submodule without a base, in a merge of merge bases. */
  readonly entry: Entry | undefined;
  /** The conflict; undefined when clean. */
  readonly conflict?: ConflictKind;
}

/** Conflict markers grow with the depth, so that those of a merged base differ from those around them. */
const MARKER_SIZE = 7;
const MARKER_GROWTH_PER_DEPTH = 2;

/**
 * Merges one file: mode and content, each three-way. Both sides have the same type.
 *
 * @param nested the result will be merged again, with another file at the same path
 */
export async function mergeEntries(
  store: Overlay,
  base: Stage | undefined,
  ours: Stage,
  theirs: Stage,
  level: MergeLevel,
  nested = false,
): Promise<MergedEntry> {
  const mode = mergeMode(base, ours, theirs);
  const result = (oid: Entry['oid'], conflict?: ConflictKind): MergedEntry => ({
    entry: { mode: mode.mode, oid },
    ...(conflict ? { conflict } : mode.conflict ? { conflict: 'mode' } : {}),
  });
  // If both sides replaced the base by an entry of another type, there is no base.
  const origin = base && typeOf(base) === typeOf(ours) ? base : undefined;
  if (ours.oid === theirs.oid || ours.oid === base?.oid) return result(theirs.oid);
  if (theirs.oid === base?.oid) return result(ours.oid);
  // In a merge of merge bases, take the base on conflict, so that neither side looks unchanged.
  const virtual = level.depth > 0;
  if (ours.mode === GITLINK) return result(virtual ? (base?.oid ?? ZERO_OID) : ours.oid, 'submodule');
  if (!isRegular(ours)) {
    return virtual ? { entry: base && entryOf(base), conflict: 'symlink' } : result(ours.oid, 'symlink');
  }
  const undecided = (conflict: ConflictKind): MergedEntry => {
    if (!virtual) return result(ours.oid, conflict);
    return result(origin?.oid ?? store.add('blob', NOTHING), conflict);
  };

  const texts = await readTexts(store, [origin, ours, theirs]);
  if (texts === undefined) return undecided('too-large');
  if (texts.some(isBinary)) return undecided('binary');
  const [old, one, other] = texts as [Uint8Array, Uint8Array, Uint8Array];
  const steps = mergeTexts(old, one, other, {
    labels: labelsFor(level.labels, base, ours, theirs),
    markerSize: MARKER_SIZE + MARKER_GROWTH_PER_DEPTH * level.depth + (nested ? 1 : 0),
    budget: level.budget,
  });
  const merged = await inTurns(steps);
  if (merged === undefined) return undecided('too-large');
  const oid = store.add('blob', merged.data);
  return result(oid, merged.conflicts === 0 ? undefined : origin ? 'content' : 'add-add');
}

const NOTHING = new Uint8Array(0);

export function entryOf({ mode, oid }: Entry): Entry {
  return { mode, oid };
}

/** The mode of the side that changed it. */
function mergeMode(
  base: Entry | undefined,
  ours: Entry,
  theirs: Entry,
): { readonly mode: number; readonly conflict: boolean } {
  if (ours.mode === theirs.mode || ours.mode === base?.mode) return { mode: theirs.mode, conflict: false };
  return { mode: ours.mode, conflict: theirs.mode !== base?.mode };
}

/** Adds the paths to the labels when they differ. */
function labelsFor(labels: Labels, base: Stage | undefined, ours: Stage, theirs: Stage): Labels {
  if (ours.path === theirs.path && (base?.path ?? ours.path) === ours.path) return labels;
  return { ours: `${labels.ours}:${ours.path}`, theirs: `${labels.theirs}:${theirs.path}` };
}

async function readTexts(
  store: Overlay,
  stages: readonly (Stage | undefined)[],
): Promise<Uint8Array[] | undefined> {
  return store.run((objects) => {
    const sizes = batchMisses(stages, (stage) => (stage ? objects.header(stage.oid).size : 0));
    if (sizes.some((size) => size > MAX_FILE_BYTES)) return undefined;
    return batchMisses(stages, (stage) => (stage ? objects.read(stage.oid).data : NOTHING));
  });
}
