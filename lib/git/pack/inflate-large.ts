import { CorruptData } from '../corrupt-data.ts';
import type { GitObject } from '../objects.ts';
import { inTurns, Pace } from '../work.ts';
import { BLOCK_SIZE } from './block-cache.ts';
import { applyDeltaInSteps, deltaSizes } from './delta.ts';
import { InflateStream, usesHandle } from './inflate.ts';
import type { Pack } from './pack-cache.ts';

/** Inflated bytes from which an entry is inflated in turns of the event loop: a few milliseconds. */
const LARGE_ENTRY = 2 * 2 ** 20;
/** Input bytes between two looks at the clock: they may inflate to a thousand times as many. */
const INPUT_STEP = 4 * 1024;

/** What a large entry inflates to. */
export interface Inflated {
  readonly data: Uint8Array;
  /** Input bytes used. */
  readonly deflated: number;
}

/**
 * Thrown by synchronous readers of a large entry, which {@link inflateEntry} inflates before they are run again.
 * Not an Error, as `BlockMiss`: it is control flow.
 */
export class InflateMiss {
  readonly pack: Pack;
  /** Offset of the zlib stream in the pack. */
  readonly from: number;
  /** Inflated bytes. */
  readonly size: number;

  constructor(pack: Pack, from: number, size: number) {
    this.pack = pack;
    this.from = from;
    this.size = size;
  }
}

/** An entry that is a delta. */
export interface DeltaLink {
  readonly offset: number;
  /** Offset of its zlib stream, and the bytes that this inflates to. */
  readonly dataAt: number;
  readonly size: number;
}

/** Thrown in the same way for an object of large deltas, which {@link applied} makes. */
export class DeltaMiss {
  readonly pack: Pack;
  readonly base: GitObject;
  /** From that of the base to that of the object. */
  readonly links: readonly DeltaLink[];

  constructor(pack: Pack, base: GitObject, links: readonly DeltaLink[]) {
    this.pack = pack;
    this.base = base;
    this.links = links;
  }

  /** Offset of the object. */
  get offset(): number {
    return this.links.at(-1)!.offset;
  }
}

/**
 * Applies deltas one after another, beside other work: of a long chain only two objects are held.
 * @param read the delta of an entry, in memory of its own
 * @param keep receives what each of them makes
 * @throws CorruptData
 */
export async function applied(
  { base, links }: DeltaMiss,
  read: (link: DeltaLink) => Promise<Uint8Array>,
  keep: (link: DeltaLink, object: GitObject) => void,
): Promise<GitObject> {
  let object = base;
  for (const link of links) {
    const delta = await read(link);
    const sizes = deltaSizes(delta);
    const out = Buffer.allocUnsafeSlow(sizes.result);
    await inTurns(applyDeltaInSteps(object.data, delta, sizes, out));
    object = { type: base.type, data: out };
    keep(link, object);
  }
  return object;
}

/** Whether an entry of this size is inflated in turns. */
export const isLargeEntry = (size: number): boolean => usesHandle && size >= LARGE_ENTRY;

export const entryKey = (pack: Pack, from: number): string => `${pack.serial} ${from}`;

/**
 * Inflates an entry beside other work.
 * @param read a part of the pack's file, which may have to be fetched
 * @throws CorruptData
 */
export async function inflateEntry(
  { pack, from, size }: InflateMiss,
  read: (start: number, end: number) => Promise<Uint8Array>,
): Promise<Inflated> {
  const data = Buffer.allocUnsafeSlow(size);
  const inflate = new InflateStream(size);
  const pace = new Pace();
  let made = 0;
  const take = (bytes: Uint8Array) => {
    data.set(bytes, made);
    made += bytes.length;
  };
  try {
    // The end shows with the first byte after it: an entry is followed by another one, or by the pack's checksum.
    for (let start = from, used = 0; start < pack.file.size; ) {
      const end = Math.min(pack.file.size, (Math.floor(start / BLOCK_SIZE) + 1) * BLOCK_SIZE);
      const bytes = await read(start, end);
      for (let at = 0; at < bytes.length; at += INPUT_STEP) {
        used += inflate.push(bytes, at, Math.min(at + INPUT_STEP, bytes.length), take);
        if (inflate.ended) return { data, deflated: used };
        if (pace.due()) await pace.rest();
      }
      start = end;
    }
    throw new CorruptData('pack-truncated', `entry data at ${from} do not end`);
  } finally {
    inflate.close();
  }
}
