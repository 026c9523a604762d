import { rm } from 'node:fs/promises';
import { bitmapBuilder } from '../bitmap/build-bitmap.ts';
import { type OpenedBitmap, openBitmap } from '../bitmap/open.ts';
import { bundleBuilder } from '../bundle-builder.ts';
import { BroughtObjects } from '../commit-graph/brought-objects.ts';
import { commitGraphBuilder } from '../commit-graph/build.ts';
import { CorruptData } from '../corrupt-data.ts';
import { sealDerived } from '../derived.ts';
import { ObjectMissing } from '../objects.ts';
import { PackCache } from '../pack/pack-cache.ts';
import { PackStore } from '../pack/store.ts';
import { mergedIndexBuilder } from '../pack/write-merged-index.ts';
import type {
  DerivedContent,
  DerivedFile,
  DerivedKind,
  MaintainedObjects,
  PackDescription,
  Provenance,
} from '../ports.ts';
import type { RefDatabase } from '../ref-database.ts';
import { tipBuilder } from '../tree/build-tip.ts';
import { warn } from '../warnings.ts';
import { LimitExceeded } from '../work.ts';
import { storeOver } from './compact.ts';
import type { DeriveContext, DerivedBuilder } from './derived-builder.ts';
import { dueKinds, isRefused, objectsIn, REFUSED } from './due.ts';

/** In the order they are run. */
const BUILDERS: readonly DerivedBuilder[] = [
  commitGraphBuilder,
  tipBuilder,
  mergedIndexBuilder,
  bitmapBuilder,
  bundleBuilder,
];

/** Who had this long, and was not done, would not be the next time either. */
const FAIR_CHANCE_MS = 300_000;

/** Times in milliseconds since 1970. */
interface Time {
  /** No file is begun after it. */
  readonly deadline: number;
  /** What was begun may take until then. */
  readonly stopsAt: number;
}

interface Wishes {
  readonly asked?: readonly DerivedKind[];
  readonly onMade?: (kind: DerivedKind) => void;
}

/**
 * Builds the derived files that are due. May be stopped at any step and called again. A file that needs more than the time
 * of a whole run, or that what was pushed does not allow, is given up with a warning, and tried again when it would be made anew.
 * @param options.onMade told of each file that is stored
 * @returns whether all is done
 * @throws PacksChanged, the adapter's I/O errors
 */
export async function deriveFiles(
  objects: MaintainedObjects,
  refs: RefDatabase,
  { asked, onMade, ...time }: Time & Wishes,
  builders = BUILDERS,
): Promise<boolean> {
  const listed = await objects.listPacks({ fresh: true });
  const due = dueKinds(listed, (kind) => objects.derived?.current(kind), asked);
  const both = due.includes('commit-graph') && due.includes('bitmap');
  const brought = both ? new BroughtObjects() : undefined;
  const context = { ...time, refs, brought, formerBitmap: bitmapNow(objects) };
  for (const builder of builders) {
    if (!due.includes(builder.kind)) continue;
    if (Date.now() > (context.brought?.isComplete ? time.stopsAt : time.deadline)) return false;
    if (!(await derive(objects, builder, context, onMade))) return false;
    if (builder.kind === 'bitmap') brought?.giveUp();
  }
  return true;
}

/** Reads the bitmap that is listed now, also when its index is replaced meanwhile. */
function bitmapNow(objects: MaintainedObjects): () => Promise<OpenedBitmap | undefined> {
  const kinds = ['object-index', 'bitmap'] as const;
  const now = new Map<DerivedKind, DerivedFile | undefined>(
    kinds.map((kind) => [kind, objects.derived?.current(kind)]),
  );
  const open = (file: DerivedFile) => objects.derived!.open(file);
  return () => openBitmap(storeOver(objects, [], { current: (kind) => now.get(kind), open }));
}

async function derive(
  objects: MaintainedObjects,
  builder: DerivedBuilder,
  context: Omit<DeriveContext, 'store' | 'packs'>,
  onMade: Wishes['onMade'],
): Promise<boolean> {
  const { kind } = builder;
  const packs = (await objects.listPacks({ fresh: true })).filter(
    ({ source }) => source !== 'unreachable-garbage',
  );
  // A small cache: the worker's memory is needed for the file being built.
  const cache = new PackCache({ blockBytes: 64 * 2 ** 20, baseBytes: 48 * 2 ** 20 });
  const store = new PackStore(objects, { cache });
  try {
    const had = context.stopsAt - Date.now();
    const made = await builder.build({ store, packs, ...context });
    if (made === undefined) {
      if (had < FAIR_CHANCE_MS) return false;
      warn('derived file not built', { kind, cause: `its ${Math.round(had / 1000)} seconds ended first` });
      await noteRefusal(objects, kind, packs);
      return true;
    }
    const file = await objects
      .storeDerived(kind, made.content, madeOf(packs, made.note))
      .finally(() => discard(made.content));
    onMade?.(kind);
    // An incomplete file is due again.
    return !dueKinds(packs, (other) => (other === kind ? file : objects.derived?.current(other))).includes(
      kind,
    );
  } catch (error) {
    // A damaged repository gets no derived file.
    const known =
      error instanceof CorruptData || error instanceof LimitExceeded || error instanceof ObjectMissing;
    if (!known) throw error;
    warn('derived file not built', { kind, cause: String(error) });
    if (isLasting(error)) await noteRefusal(objects, kind, packs);
    return true;
  }
}

const madeOf = (packs: readonly PackDescription[], note: string): Provenance => ({
  packs: packs.map(({ id }) => id),
  objects: objectsIn(packs),
  note,
});

/** Whether it is what was pushed that allows no file: it will be the same the next time. Damage may be mended. */
const isLasting = (error: unknown): boolean =>
  error instanceof LimitExceeded ||
  (error instanceof CorruptData && (error.code === 'object-malformed' || error.code === 'limit'));

/** Notes that no file can be made of these packs, in the place of the file, unless an older one is still of use. */
async function noteRefusal(
  objects: MaintainedObjects,
  kind: DerivedKind,
  packs: readonly PackDescription[],
): Promise<void> {
  const former = objects.derived?.current(kind);
  const index = objects.derived?.current('object-index')?.id ?? '';
  // A bitmap is of none once its index is replaced.
  const isOfUse = kind !== 'bitmap' || former?.provenance.note === index;
  if (former !== undefined && !isRefused(former) && isOfUse) return;
  await objects.storeDerived(kind, sealDerived(new Uint8Array(0)), madeOf(packs, `${REFUSED} ${index}`));
}

async function discard(content: DerivedContent): Promise<void> {
  if (content.kind === 'file') await rm(content.path, { force: true });
}
