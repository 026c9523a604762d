/** The pack that answers a fetch, framed as the client agreed to (gitprotocol-pack, "Packfile Data"). */
import { setTimeout as sleep } from 'node:timers/promises';
import { CorruptData } from '../corrupt-data.ts';
import { type Oid, oidBytes } from '../oid.ts';
import { TAG } from '../pack/entry.ts';
import type { ObjectList } from '../pack/object-list.ts';
import type { PackStore } from '../pack/store.ts';
import { storedBytesAbove } from '../pack/stored-bytes.ts';
import { takeOver } from '../pack/take-over.ts';
import { writePack } from '../pack/write.ts';
import { enumerate, type ObjectFilter } from '../reachable.ts';
import { beforeLongWork } from '../work.ts';
import { tagTarget } from './commits.ts';
import { type KeptPack, storedBytes } from './kept-pack.ts';
import { FLUSH, pkt } from './pkt-line.ts';
import { onBand, type SideBand, streamed } from './side-band.ts';
import type { FetchOptions } from './upload-request.ts';

export interface PackRequest {
  readonly wants: readonly Oid[];
  /** Objects that the client has, with everything they reach. */
  readonly common: ReadonlySet<Oid>;
  /** Commits whose parents are ignored: the client's shallow boundary. */
  readonly cut: ReadonlySet<Oid>;
  /** Annotated tags that are sent if the object they point to is: tag → object. Empty unless requested. */
  readonly tags: ReadonlyMap<Oid, Oid>;
  readonly filter: ObjectFilter | undefined;
  /** See `UploadPackOptions`. */
  readonly notice: string | undefined;
  readonly options: FetchOptions;
  readonly onError: ((cause: unknown) => void) | undefined;
  readonly failureText: ((cause: unknown) => string | undefined) | undefined;
  readonly limit: PackLimit | undefined;
  readonly kept?: KeptPack | undefined;
}

/** What a response can carry. */
export interface PackLimit {
  readonly bytes: number;
  /** What a client can do instead, for its user. */
  readonly advice: string;
}

/** Bytes, and objects, from which sending a pack is long work. */
const LARGE_PACK = 16 * 1024 * 1024;
export const MANY_OBJECTS = 100_000;

/** The part of a pack that is taken over from an earlier one, from which it is little work, and that one stays the latest. */
const MOSTLY = 7 / 8;

/** Bytes, as they are stored, of a pack that is kept before it is asked for again: it may become larger than a copy may be. */
export const KEPT_AT_ONCE = 32 * 1024 * 1024;

/** Interval of keep-alive packets for clients with side bands. */
const KEEPALIVE_MS = 5000;

/** The objects of the pack. */
export async function listed(
  store: PackStore,
  { wants, common, cut, filter, tags }: PackRequest,
): Promise<ObjectList> {
  const list = await enumerate(store, {
    include: wants,
    exclude: [...common],
    ...(filter === undefined ? {} : { filter }),
    ...(cut.size > 0 ? { shallow: cut, excludeShallow: cut } : {}),
  });
  await addTags(store, list, tags);
  return list;
}

/** @param known the objects, where they are listed already */
export async function* packfile(
  store: PackStore,
  request: PackRequest,
  known?: ObjectList,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { options } = request;
  const { sideBand } = options;
  const say = (text: string) => (options.progress ? onBand(sideBand, 2, text) : []);
  if (request.notice) yield* onBand(sideBand, 2, request.notice);
  try {
    let pack = request.kept && (yield* keptAlive(request.kept.open(), sideBand));
    if (pack === undefined) {
      const list = known ?? (yield* keptAlive(listed(store, request), sideBand));
      const above = request.limit && (await storedBytesAbove(store, list, request.limit.bytes));
      if (above !== undefined) {
        yield* onBand(sideBand, 3, refusal(above, request.limit!));
        return;
      }
      pack = yield* keptAlive(written(store, request, list), sideBand);
    }
    const counted = new Counted(pack);
    let begun = false;
    for await (const piece of streamed(sideBand, counted)) {
      const { objects } = counted;
      if (!begun) {
        yield* say(`Enumerating objects: ${objects}, done.\n`);
        yield* say(`Counting objects: 100% (${objects}/${objects}), done.\n`);
      }
      begun = true;
      yield piece;
    }
    yield* say(`Total ${counted.objects} objects, ${counted.bytes} bytes\n`);
  } catch (cause) {
    if (cause instanceof CorruptData) await request.kept?.forgetLatest();
    request.onError?.(cause);
    // Without side bands, the client notices that the pack is truncated.
    const reason = request.failureText?.(cause) ?? 'internal error';
    yield* onBand(sideBand, 3, `upload-pack: the pack could not be made: ${reason}\n`);
    return;
  }
  if (sideBand !== 'none') yield FLUSH;
}

/** The pack of these objects, of which a copy may be kept. */
async function written(
  store: PackStore,
  { kept, cut, filter, options }: PackRequest,
  list: ObjectList,
): Promise<AsyncIterable<Uint8Array>> {
  // A partial clone may lack a delta base that its commits reach.
  const thin = options.thinPack && filter === undefined;
  const write = (onIndex?: (index: Uint8Array) => void) =>
    writePack(store, list, { thin, ofsDelta: options.ofsDelta, onIndex });
  // The files of a commit are mostly those of an earlier one, which are stored as deltas against versions that are not sent.
  const ofFiles = kept !== undefined && cut.size > 0 && filter === undefined && list.count <= MANY_OBJECTS;
  const mostly = ofFiles && (await takenOver(store, list, kept)) >= list.count * MOSTLY;
  const bytes = mostly ? undefined : await storedBytesAbove(store, list, LARGE_PACK);
  if (bytes !== undefined || list.count > MANY_OBJECTS) await beforeLongWork();
  if (!ofFiles) return kept?.keep(write()) ?? write();
  const copy = {
    index: undefined as Uint8Array | undefined,
    atOnce: !mostly && (bytes ?? 0) <= KEPT_AT_ONCE,
  };
  const pack = write((index) => {
    copy.index = index;
  });
  return kept.keep(pack, copy);
}

/** @returns how many objects can be copied from the pack that was kept last */
async function takenOver(store: PackStore, list: ObjectList, kept: KeptPack): Promise<number> {
  const latest = await kept.latest();
  if (latest === undefined) return 0;
  return takeOver(store, list, latest).catch(async (cause: unknown) => {
    if (cause instanceof CorruptData) await kept.forgetLatest();
    return 0;
  });
}

/**
 * Refuses a clone of much before anything is answered, so that the refusal can be a status; for other fetches it is known
 * later how much they send.
 * @throws what refuses long work: see `WorkWatch`
 */
export async function beforePack(store: PackStore, request: PackRequest): Promise<void> {
  const { common, cut, filter } = request;
  if (common.size > 0 || cut.size > 0 || filter !== undefined) return;
  if ((await storedBytes(store)) > LARGE_PACK) await beforeLongWork();
}

function refusal(bytes: number, limit: PackLimit): string {
  const [has, may] = [bytes, limit.bytes].map((size) => (size / 1e6).toFixed(size < 10e6 ? 1 : 0));
  return `upload-pack: this fetch needs about ${has} MB, and one response has at most ${may} MB. ${limit.advice}\n`;
}

/** Bytes of the header of a pack, whose last four tell how many objects it has. */
const HEADER = 12;

/** Passes a pack on, and tells what has passed. */
class Counted implements AsyncIterable<Uint8Array> {
  bytes = 0;
  /** As its header says, when that has passed. */
  objects = 0;
  readonly #pack: AsyncIterable<Uint8Array>;

  constructor(pack: AsyncIterable<Uint8Array>) {
    this.#pack = pack;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const piece of this.#pack) {
      for (let at = this.bytes; at < Math.min(HEADER, this.bytes + piece.length); at++)
        if (at >= HEADER - 4) this.objects = this.objects * 256 + piece[at - this.bytes]!;
      this.bytes += piece.length;
      yield piece;
    }
  }
}

/** Waits, and sends git's keep-alive packet every few seconds: an empty line on band 1. */
async function* keptAlive<T>(work: Promise<T>, sideBand: SideBand): AsyncGenerator<Uint8Array, T, undefined> {
  if (sideBand === 'none') return await work;
  const result = work.then((value) => ({ value }));
  for (;;) {
    const stop = new AbortController();
    const pause = sleep(KEEPALIVE_MS, undefined, { signal: stop.signal }).catch(() => undefined);
    const done = await Promise.race([result, pause]).finally(() => stop.abort());
    if (done !== undefined) return done.value;
    yield pkt(Uint8Array.of(1));
  }
}

/** Adds each tag whose object is in the list, and the tags between them. */
async function addTags(store: PackStore, list: ObjectList, tags: ReadonlyMap<Oid, Oid>): Promise<void> {
  if (tags.size === 0) return;
  const tagged = new Set(tags.values());
  const listed = new Set<Oid>();
  for (const oid of list.oids()) if (tagged.has(oid) || tags.has(oid)) listed.add(oid);
  const chains = [...tags].filter(([tag, target]) => listed.has(target) && !listed.has(tag));
  const added = new Set<Oid>();
  let next = 0;
  await store.run((objects) => {
    for (; next < chains.length; next++) {
      const [tag, target] = chains[next]!;
      const chain: Oid[] = [];
      for (let at: Oid | undefined = tag; at !== undefined && at !== target; ) {
        chain.push(at);
        const object = objects.read(at);
        at = object.type === 'tag' ? tagTarget(object.data) : undefined;
      }
      for (const oid of chain) {
        if (added.has(oid) || listed.has(oid) || !objects.locate(oidBytes(oid), 0)) continue;
        list.add(oidBytes(oid), 0, TAG, objects.pack, objects.position);
        added.add(oid);
      }
    }
  });
}
