import { type AttributeName, type AttributeState, Attributes } from '../archive/attributes.ts';
import { batchMisses } from '../batch-misses.ts';
import type { ObjectStore, SyncObjects } from '../objects.ts';
import type { Oid } from '../oid.ts';
import { inSlices } from '../slices.ts';
import { LimitExceeded } from '../work.ts';
import { DIRECTORY, EXECUTABLE, REGULAR } from './entry.ts';
import { decodePath, type RawPath, ROOT } from './path.ts';
import { TreeWalk, type WalkedEntry } from './walk.ts';

/** A file of a tree, with its attributes. */
export interface SizedFile {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  readonly attributes: ReadonlyMap<AttributeName, AttributeState>;
}

/** A few small trees can name billions. */
const MAX_FILES = 500_000;
const STEPS_PER_TURN = 2_000;

/**
 * The files below a tree for which `wanted` returns true. Reads no content except that of `.gitattributes` files.
 * Symlinks and submodules do not count as files.
 * @throws LimitExceeded for more than half a million, ObjectMissing
 */
export async function* fileSizes(
  store: ObjectStore,
  tree: Oid,
  names: readonly AttributeName[],
  wanted: (file: Omit<SizedFile, 'size'>) => boolean,
): AsyncGenerator<SizedFile> {
  const walk = new TreeWalk(tree);
  const attributes = new Attributes();
  let entered: { readonly path: RawPath; readonly oid: Oid } | undefined = { path: ROOT, oid: tree };
  let found: { readonly oid: Oid; readonly file: Omit<SizedFile, 'size'> }[] = [];
  let walked = 0;
  let ended = false;
  const step = (objects: SyncObjects): boolean => {
    if (entered) {
      attributes.enter(objects, entered.path, entered.oid);
      entered = undefined;
    }
    const entry = walk.next(objects);
    ended = entry === undefined;
    if (entry === undefined) return true;
    if (++walked > MAX_FILES) throw new LimitExceeded(`more than ${MAX_FILES} entries`);
    if (entry.mode === DIRECTORY) entered = entry;
    else if (isFile(entry)) {
      const said = new Map(names.map((name) => [name, attributes.state(entry.path, false, name)]));
      const file = { path: decodePath(entry.path), attributes: said };
      if (wanted(file)) found.push({ oid: entry.oid, file });
    }
    return found.length >= STEPS_PER_TURN;
  };
  while (!ended) {
    await inSlices(store, STEPS_PER_TURN, step);
    const some = found;
    found = [];
    const sizes = await store.run((objects) => batchMisses(some, ({ oid }) => objects.header(oid).size));
    for (const [i, { file }] of some.entries()) yield { ...file, size: sizes[i]! };
  }
}

const isFile = ({ mode }: WalkedEntry): boolean => mode === REGULAR || mode === EXECUTABLE;
