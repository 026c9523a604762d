import type { ObjectType } from '../objects.ts';
import { EMPTY_TREE, type Oid, oidBytes, oidFromBytes } from '../oid.ts';
import { typeCode, typeName } from './entry.ts';
import { resized } from './entry-table.ts';
import { NameTable } from './name-table.ts';
import type { Pack } from './pack-cache.ts';
import type { PackStore } from './store.ts';

/** Objects and their locations, in columns: a clone has hundreds of thousands. Made by `enumerate`. */
export class ObjectList {
  /** Type codes. */
  types = new Uint8Array(256);
  /** The packs that `packOf` refers to. */
  readonly packs: Pack[] = [];
  /** Index in `packs` of the pack that has the object; -1 for an empty tree that no pack has. */
  packOf = new Int32Array(256);
  /** The object's position in its pack's index. */
  positions = new Uint32Array(256);
  /** A hash of the path where the object was found, to find delta bases; 0 for none. */
  paths = new Int32Array(256);
  /** The id (20 bytes) of the object that the receiver has at such a path, if known. */
  receiverAt: (path: number) => Uint8Array | undefined = () => undefined;
  /** Whether the receiver is known to have the object with the 20 bytes at `name[at]`; absent when it is known to have none. */
  receiverHas: ((name: Uint8Array, at: number) => boolean) | undefined;
  readonly #table = new NameTable();
  readonly #numbers = new Map<Pack, number>();

  get count(): number {
    return this.#table.count;
  }

  /** 20 bytes each. */
  get names(): Uint8Array {
    return this.#table.names;
  }

  /** Adds an object; does not change one that is already in the list. */
  add(name: Uint8Array, at: number, type: number, pack: Pack | undefined, position: number, path = 0): void {
    const before = this.#table.count;
    const i = this.#table.add(name, at);
    if (i < before) return;
    if (i === this.types.length) {
      this.types = resized(this.types, 2 * i);
      this.paths = resized(this.paths, 2 * i);
      this.packOf = resized(this.packOf, 2 * i);
      this.positions = resized(this.positions, 2 * i);
    }
    this.types[i] = type;
    this.paths[i] = path;
    this.positions[i] = position;
    this.packOf[i] = pack ? this.#number(pack) : -1;
  }

  /** Locates an object of the list in another pack that has it. */
  move(i: number, pack: Pack, position: number): void {
    this.packOf[i] = this.#number(pack);
    this.positions[i] = position;
  }

  /** @returns the object's index in the list, or -1 */
  indexOf(name: Uint8Array, at: number): number {
    return this.#table.find(name, at);
  }

  oid(i: number): Oid {
    return oidFromBytes(this.names, 20 * i);
  }

  type(i: number): ObjectType {
    return typeName(this.types[i]!);
  }

  *oids(): Generator<Oid> {
    for (let i = 0; i < this.count; i++) yield this.oid(i);
  }

  #number(pack: Pack): number {
    let number = this.#numbers.get(pack);
    if (number === undefined) {
      number = this.packs.length;
      this.packs.push(pack);
      this.#numbers.set(pack, number);
    }
    return number;
  }
}

/** A list of exactly these objects. @throws ObjectMissing */
export async function listObjects(store: PackStore, oids: Iterable<Oid>): Promise<ObjectList> {
  const list = new ObjectList();
  const all = [...oids];
  let at = 0;
  await store.run((objects) => {
    for (; at < all.length; at++) {
      const name = oidBytes(all[at]!);
      const type = typeCode(objects.header(all[at]!).type);
      const found = objects.locate(name, 0);
      if (!found && all[at] !== EMPTY_TREE) continue;
      list.add(name, 0, type, found ? objects.pack : undefined, found ? objects.position : 0);
    }
  });
  return list;
}
