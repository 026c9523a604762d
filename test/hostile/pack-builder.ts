import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';

const TYPES = { commit: 1, tree: 2, blob: 3, tag: 4 } as const;
type Type = keyof typeof TYPES;

/** An object in the pack that is being built. */
export interface Packed {
  readonly oid: string;
  readonly type: Type;
  readonly size: number;
  /** Offset of its entry. */
  readonly offset: number;
}

export interface TreeItem {
  readonly name: string;
  readonly of: Packed;
  readonly mode?: string;
}

/** Instructions of a delta: a part of the base, or bytes of its own. */
export type Instruction = readonly [from: number, size: number] | Uint8Array;

const PERSON = 'A <a@example.com> 1700000000 +0000';
const MAX_COPY = 0xffffff;

/** Builds packs that git would not make: as small as an attacker makes them. */
export class PackBuilder {
  readonly #parts: Buffer[] = [];
  #size = 12;
  #count = 0;

  add(type: Type, data: Uint8Array): Packed {
    const oid = createHash('sha1').update(`${type} ${data.length}\0`).update(data).digest('hex');
    const offset = this.#entry(TYPES[type], data.length, deflateSync(data, { level: 9 }));
    return { oid, type, size: data.length, offset };
  }

  blob(text: string | Uint8Array): Packed {
    return this.add('blob', typeof text === 'string' ? Buffer.from(text) : text);
  }

  /** @param items in git's order */
  tree(items: readonly TreeItem[]): Packed {
    return this.add('tree', treeBytes(items));
  }

  commit(tree: Packed, parents: readonly Packed[] = [], message = 'm\n', person = PERSON): Packed {
    return this.add('commit', commitBytes(tree, parents, message, person));
  }

  /**
   * An entry that is a delta on another.
   * @param result what it makes: only its id and size are used
   */
  delta(base: Packed, instructions: readonly Instruction[], result: Omit<Packed, 'offset' | 'type'>): Packed {
    const delta = Buffer.concat([
      varint(base.size),
      varint(result.size),
      ...instructions.flatMap((one) =>
        one instanceof Uint8Array ? inserts(one) : copies(...(one as [number, number])),
      ),
    ]);
    const distance = this.#size - base.offset;
    const offset = this.#entry(6, delta.length, deflateSync(delta, { level: 9 }), offsetBytes(distance));
    return { ...result, type: base.type, offset };
  }

  get pack(): Buffer {
    const head = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
    head.writeUInt32BE(this.#count, 8);
    const body = Buffer.concat([head, ...this.#parts]);
    return Buffer.concat([body, createHash('sha1').update(body).digest()]);
  }

  #entry(type: number, size: number, deflated: Uint8Array, base: Uint8Array = new Uint8Array(0)): number {
    const head = [(type << 4) | (size & 15)];
    for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
      head[head.length - 1]! |= 0x80;
      head.push(rest & 127);
    }
    const offset = this.#size;
    const bytes = Buffer.concat([Buffer.from(head), base, deflated]);
    this.#parts.push(bytes);
    this.#size += bytes.length;
    this.#count++;
    return offset;
  }
}

export const treeBytes = (items: readonly TreeItem[]): Buffer =>
  Buffer.concat(
    items.flatMap(({ name, of, mode }) => [
      Buffer.from(`${mode ?? (of.type === 'tree' ? '40000' : '100644')} ${name}\0`),
      Buffer.from(of.oid, 'hex'),
    ]),
  );

export const commitBytes = (
  tree: Packed,
  parents: readonly Packed[],
  message: string,
  person = PERSON,
): Buffer =>
  Buffer.from(
    `tree ${tree.oid}\n${parents.map(({ oid }) => `parent ${oid}\n`).join('')}author ${person}\ncommitter ${person}\n\n${message}`,
  );

/** Id and size of an object that a delta will make. */
export function named(type: Type, data: Uint8Array): Omit<Packed, 'offset' | 'type'> {
  const oid = createHash('sha1').update(`${type} ${data.length}\0`).update(data).digest('hex');
  return { oid, size: data.length };
}

const varint = (n: number): Buffer => {
  const bytes: number[] = [];
  for (; n >= 128; n = Math.floor(n / 128)) bytes.push((n % 128) | 128);
  return Buffer.from([...bytes, n]);
};

function offsetBytes(distance: number): Buffer {
  const bytes = [distance % 128];
  for (let rest = Math.floor(distance / 128); rest > 0; rest = Math.floor(rest / 128))
    bytes.unshift(128 | (--rest % 128));
  return Buffer.from(bytes);
}

const inserts = (bytes: Uint8Array): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / 127) }, (_, i) => {
    const piece = bytes.subarray(127 * i, 127 * i + 127);
    return Buffer.from([piece.length, ...piece]);
  });

function copies(from: number, size: number): Buffer[] {
  const made: Buffer[] = [];
  for (let at = from; at < from + size; at += MAX_COPY) {
    const part = Math.min(MAX_COPY, from + size - at);
    const bytes = [at & 255, (at >> 8) & 255, (at >> 16) & 255, at >>> 24];
    made.push(Buffer.from([0xff, ...bytes, part & 255, (part >> 8) & 255, part >> 16]));
  }
  return made;
}
