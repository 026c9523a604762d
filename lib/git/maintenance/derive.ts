import { rm } from 'node:fs/promises';
import { bitmapBuilder } from '../bitmap/build-bitmap.ts';
import { bundleBuilder } from '../bundle-builder.ts';
import { commitGraphBuilder } from '../commit-graph/build.ts';
import { CorruptData } from '../corrupt-data.ts';
import { ObjectMissing } from '../objects.ts';
import { PackCache } from '../pack/pack-cache.ts';
import { PackStore } from '../pack/store.ts';
import { mergedIndexBuilder } from '../pack/write-merged-index.ts';
import type { DerivedContent, DerivedKind, MaintainedObjects, Provenance } from '../ports.ts';
import type { RefDatabase } from '../ref-database.ts';
import { tipBuilder } from '../tree/build-tip.ts';
import { warn } from '../warnings.ts';
import { LimitExceeded } from '../work.ts';
import type { DerivedBuilder } from './derived-builder.ts';
import { dueKinds, objectsIn } from './due.ts';

/** In the order they are run. */
const BUILDERS: readonly DerivedBuilder[] = [
  commitGraphBuilder,
  tipBuilder,
  mergedIndexBuilder,
  bitmapBuilder,
  bundleBuilder,
];

/**
 * Builds the derived files that are due. May be stopped at any step and called again.
 * @returns whether all is done
 * @throws PacksChanged, the adapter's I/O errors
 */
export async function deriveFiles(
  objects: MaintainedObjects,
  refs: RefDatabase,
  options: {
    readonly deadline: number;
    readonly asked?: readonly DerivedKind[];
    readonly builders?: readonly DerivedBuilder[];
  },
): Promise<boolean> {
  const { deadline, builders = BUILDERS } = options;
  const listed = await objects.listPacks({ fresh: true });
  const due = dueKinds(listed, (kind) => objects.derived?.current(kind), options.asked);
  for (const builder of builders) {
    if (!due.includes(builder.kind)) continue;
    if (Date.now() > deadline) return false;
    if (!(await derive(objects, refs, builder, deadline))) return false;
  }
  return true;
}

async function derive(
  objects: MaintainedObjects,
  refs: RefDatabase,
  builder: DerivedBuilder,
  deadline: number,
): Promise<boolean> {
  const { kind } = builder;
  const packs = (await objects.listPacks({ fresh: true })).filter(
    ({ source }) => source !== 'unreachable-garbage',
  );
  // A small cache: the worker's memory is needed for the file being built.
  const cache = new PackCache({ blockBytes: 128 * 2 ** 20, baseBytes: 64 * 2 ** 20 });
  const store = new PackStore(objects, { cache });
  try {
    const made = await builder.build({ store, refs, packs, deadline });
    if (made === undefined) return false;
    const provenance: Provenance = {
      packs: packs.map(({ id }) => id),
      objects: objectsIn(packs),
      note: made.note,
    };
    const file = await objects
      .storeDerived(kind, made.content, provenance)
      .finally(() => discard(made.content));
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
    return true;
  }
}

async function discard(content: DerivedContent): Promise<void> {
  if (content.kind === 'file') await rm(content.path, { force: true });
}
