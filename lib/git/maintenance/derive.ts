import { rm } from 'node:fs/promises';
import { bitmapBuilder } from '../bitmap/build-bitmap.ts';
import { bundleBuilder } from '../bundle-builder.ts';
import { commitGraphBuilder } from '../commit-graph/build.ts';
import { CorruptData, ObjectMissing } from '../objects.ts';
import { PackCache } from '../pack/pack-cache.ts';
import { PackStore } from '../pack/store.ts';
import { mergedIndexBuilder } from '../pack/write-merged-index.ts';
import type {
  DerivedContent,
  DerivedKind,
  MadeFrom,
  MaintainedObjects,
  PackDescription,
  RefDatabase,
} from '../ports.ts';
import { tipBuilder } from '../tree/build-tip.ts';
import { warn } from '../warnings.ts';
import { dueKinds, objectsIn } from './due.ts';

/** What a builder works with. */
export interface DeriveContext {
  /** Reads the packs and the derived files that are listed now. */
  readonly store: PackStore;
  readonly refs: RefDatabase;
  /** In use, garbage left out, newest first. */
  readonly packs: readonly PackDescription[];
  /** Milliseconds since 1970; when it comes, what is done is handed over, or the work is given up. */
  readonly deadline: number;
}

interface Derived {
  readonly content: DerivedContent;
  readonly note: string;
}

/** Makes one kind of file; `due.ts` says when. */
export interface DerivedBuilder {
  readonly kind: DerivedKind;
  /**
   * Takes turns with others in slices. What is only half as good for lack of time may be handed over with a note by
   * which `due.ts` sees that it is due again.
   * @returns undefined when the time was too short
   * @throws ObjectMissing, CorruptData, the adapter's I/O errors
   */
  build(context: DeriveContext): Promise<Derived | undefined>;
}

/** In this order. */
const BUILDERS: readonly DerivedBuilder[] = [
  commitGraphBuilder,
  tipBuilder,
  mergedIndexBuilder,
  bitmapBuilder,
  bundleBuilder,
];

/**
 * Makes the derived files that are due. May be stopped at any step and called again.
 * @returns whether all is done
 * @throws PacksChanged, the adapter's I/O errors
 */
export async function deriveFiles(
  objects: MaintainedObjects,
  refs: RefDatabase,
  options: { readonly deadline: number; readonly builders?: readonly DerivedBuilder[] },
): Promise<boolean> {
  const { deadline, builders = BUILDERS } = options;
  const listed = await objects.listPacks({ fresh: true });
  const due = dueKinds(listed, (kind) => objects.derived?.current(kind));
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
  const packs = (await objects.listPacks({ fresh: true })).filter(({ source }) => source !== 'garbage');
  // Little is kept: a worker's memory is for what is built.
  const cache = new PackCache({ blockBytes: 128 * 2 ** 20, baseBytes: 64 * 2 ** 20 });
  const store = new PackStore(objects, { cache });
  try {
    const made = await builder.build({ store, refs, packs, deadline });
    if (made === undefined) return false;
    const madeFrom: MadeFrom = {
      packs: packs.map(({ id }) => id),
      objects: objectsIn(packs),
      note: made.note,
    };
    const file = await objects.keepDerived(kind, made.content, madeFrom).finally(() => discard(made.content));
    // Handed over half done, it is due again.
    return !dueKinds(packs, (other) => (other === kind ? file : objects.derived?.current(other))).includes(
      kind,
    );
  } catch (error) {
    // A repository that is damaged does without.
    if (!(error instanceof CorruptData || error instanceof ObjectMissing)) throw error;
    warn('derived file not made', { kind, cause: String(error) });
    return true;
  }
}

async function discard(content: DerivedContent): Promise<void> {
  if (content.kind === 'file') await rm(content.path, { force: true });
}
