/**
 * Values of a configuration on their way from one thread to another, in pieces: a message is read at once, however much it
 * says, and these a piece at a time. What appears in several places is handed over once.
 */
import { deserialize, serialize } from 'node:v8';
import type { Steps } from '../../git/work.ts';
import { type Hash, hashOf, isReference, pathOf, referenceTo, tooBig } from './values.ts';

/** What becomes of the last `count` values before it; for `again` the number of the list, hash or reference that it is. */
type Maker = readonly [kind: 'list' | 'hash' | 'reference' | 'again', count: number];

/** Values and makers of a piece: a millisecond of work. */
const MAX_ITEMS = 1000;
/** Characters of a piece, but for those of its last text. */
const MAX_CHARACTERS = 128 * 1024;

/** A list, hash or reference all of whose parts were handed over. */
class Complete {
  readonly value: object;
  readonly maker: Maker;
  constructor(value: object, maker: Maker) {
    this.value = value;
    this.maker = maker;
  }
}

/** @throws ConfigError for a value that contains itself */
export function* piecesOf(value: unknown): Steps<Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  let items: unknown[] = [];
  let characters = 0;
  let count = 0;
  /** The numbers of those that were handed over; undefined: not yet whole. */
  const numbers = new Map<object, number | undefined>();
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (next instanceof Complete) {
      numbers.set(next.value, count++);
      items.push(next.maker);
    } else if (typeof next !== 'object' || next === null) {
      if (typeof next === 'string') characters += next.length;
      items.push(next);
    } else if (numbers.has(next)) {
      const number = numbers.get(next);
      if (number === undefined) throw tooBig();
      items.push(['again', number] satisfies Maker);
    } else {
      numbers.set(next, undefined);
      const [kind, parts] = partsOf(next);
      open.push(new Complete(next, [kind, parts.length]));
      for (let i = parts.length - 1; i >= 0; i--) open.push(parts[i]);
    }
    if (items.length < MAX_ITEMS && characters < MAX_CHARACTERS) continue;
    pieces.push(serialize(items));
    items = [];
    characters = 0;
    yield;
  }
  pieces.push(serialize(items));
  return pieces;
}

function partsOf(value: object): [kind: Maker[0], parts: readonly unknown[]] {
  if (Array.isArray(value)) return ['list', value];
  if (isReference(value)) return ['reference', pathOf(value)];
  return ['hash', Object.entries(value).flat()];
}

/** The value that was cut into these pieces. */
export function* fromPieces(pieces: readonly Uint8Array[]): Steps<unknown> {
  const made: unknown[] = [];
  const values: unknown[] = [];
  for (const piece of pieces) {
    for (const item of deserialize(piece) as unknown[]) {
      if (!Array.isArray(item)) {
        values.push(item);
        continue;
      }
      const [kind, count] = item as unknown as Maker;
      if (kind === 'again') values.push(made[count]);
      else {
        const value = makeOf(kind, values.splice(values.length - count));
        made.push(value);
        values.push(value);
      }
    }
    yield;
  }
  return values[0];
}

function makeOf(kind: Exclude<Maker[0], 'again'>, parts: unknown[]): unknown {
  if (kind === 'list') return parts;
  if (kind === 'reference') return referenceTo(parts);
  return hashFrom(parts);
}

/** @param parts each key with its value behind it */
function hashFrom(parts: readonly unknown[]): Hash {
  const entries: [string, unknown][] = [];
  for (let i = 0; i < parts.length; i += 2) entries.push([parts[i] as string, parts[i + 1]]);
  return hashOf(entries);
}
