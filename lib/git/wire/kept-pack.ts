/** Packs that were sent before, and are sent again: building one anew takes much more of the processor. */
import { createHash } from 'node:crypto';
import type { Oid } from '../oid.ts';
import type { PackStore, UnlistedPack } from '../pack/store.ts';
import type { FetchRequest } from './upload-request.ts';

/** A copy of one pack, if there is one. */
export interface KeptPack {
  /** @returns undefined without a copy. Never fails. */
  open(): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Passes a pack on, and may keep a copy of it. Only what the pack itself throws is thrown. */
  keep(pack: AsyncIterable<Uint8Array>, indexed?: IndexedCopy): AsyncIterable<Uint8Array>;
  /** The copy that was kept last with its index, for whatever request. Never fails. */
  latest(): Promise<UnlistedPack | undefined>;
  /** That copy is damaged. Never fails. */
  forgetLatest(): Promise<void>;
}

/** What makes a copy useful for other packs. */
export interface IndexedCopy {
  /** Set when the pack has been passed on. */
  index: Uint8Array | undefined;
  /** Whether a copy is kept though nobody asked for the same pack before. */
  readonly atOnce: boolean;
}

/** @param name letters and digits: it stands for the pack's objects, and never for others */
export type KeptPacks = (name: string) => KeptPack;

/** What is sent of smaller repositories is made in the time that the look for a copy takes. Bytes of their packs. */
const KEPT_FROM = 4 * 1024 * 1024;

/** The parts of a request that decide what is sent. */
type Asked = Pick<
  FetchRequest,
  'wants' | 'haves' | 'shallow' | 'deepen' | 'filter' | 'options' | 'uriProtocols'
>;

/** Object ids in a name: more would take long to sort. */
const MAX_NAMED = 10_000;
/** Increase it when other objects are sent for the same request, or in another form. */
const VERSION = 1;

/** The copy of the pack that answers a request; undefined where none is kept. */
export async function keptPack(
  store: PackStore,
  request: Asked,
  tags: ReadonlyMap<Oid, Oid>,
  packs: KeptPacks | undefined,
): Promise<KeptPack | undefined> {
  const name = packs && keptName(request, tags);
  if (name === undefined || (await storedBytes(store)) < KEPT_FROM) return undefined;
  return packs!(name);
}

/** Bytes of the packs that a clone may need. */
export async function storedBytes(store: PackStore): Promise<number> {
  const packs = (await store.packs()).filter(
    ({ description }) => description.source !== 'unreachable-garbage',
  );
  return packs.reduce((sum, { description }) => sum + description.packSize, 0);
}

/**
 * The name of the pack that answers a clone; undefined for fetches of those who have something, and where the boundary of
 * the history depends on more than the request.
 * @param tags annotated tags that are sent if what they point to is
 */
function keptName(request: Asked, tags: ReadonlyMap<Oid, Oid>): string | undefined {
  const { wants, haves, shallow, deepen, filter, options, uriProtocols } = request;
  if (haves.length > 0 || shallow.length > 0 || uriProtocols.length > 0) return undefined;
  if (deepen?.kind === 'boundary' || wants.length + tags.size > MAX_NAMED) return undefined;
  const { blobLimit, treeDepth, omit } = filter ?? {};
  const asked = [
    VERSION,
    [...new Set(wants)].sort(),
    deepen?.depth ?? null,
    [blobLimit ?? null, treeDepth ?? null, [...(omit ?? [])].sort()],
    options.ofsDelta,
    [...tags.keys()].sort(),
  ];
  return createHash('sha256').update(JSON.stringify(asked)).digest('hex');
}
