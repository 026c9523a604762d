import type { NewObject } from '../edit.ts';
import type { GitObject, ObjectStore, ObjectType, SyncObjects } from '../objects.ts';
import { EMPTY_TREE, type Oid, oidFromBytes } from '../oid.ts';
import { hashObject, TreeCursor } from '../parse.ts';
import { canonicalMode, GITLINK } from '../tree/entry.ts';

/** A store plus objects in memory, so that a merge can use the result of another one. */
export class Overlay implements ObjectStore {
  readonly #below: ObjectStore;
  readonly #made = new Map<Oid, NewObject>();

  constructor(below: ObjectStore) {
    this.#below = below;
  }

  static of(below: ObjectStore, made: readonly NewObject[]): Overlay {
    const overlay = new Overlay(below);
    for (const object of made) overlay.#made.set(object.oid, object);
    return overlay;
  }

  add(type: ObjectType, data: Uint8Array): Oid {
    const oid = hashObject(type, data);
    if (oid !== EMPTY_TREE) this.#made.set(oid, { type, oid, data });
    return oid;
  }

  /** The objects in memory that a tree needs, itself included. */
  neededBy(tree: Oid): NewObject[] {
    const needed = new Map<Oid, NewObject>();
    const open = [tree];
    for (let oid = open.pop(); oid !== undefined; oid = open.pop()) {
      const object = this.#made.get(oid);
      if (object === undefined || needed.has(oid)) continue;
      needed.set(oid, object);
      if (object.type !== 'tree') continue;
      for (const cursor = new TreeCursor(object.data); cursor.next(); ) {
        if (canonicalMode(cursor.mode) !== GITLINK) open.push(oidFromBytes(cursor.data, cursor.oidStart));
      }
    }
    return [...needed.values()];
  }

  run<T>(work: (objects: SyncObjects) => T): Promise<T> {
    return this.#below.run((below) => work(this.#over(below)));
  }

  async has(oid: Oid): Promise<boolean> {
    return this.#made.has(oid) || (await this.#below.has(oid));
  }

  async read(oid: Oid): Promise<GitObject> {
    return this.#made.get(oid) ?? (await this.#below.read(oid));
  }

  header(oid: Oid): Promise<{ type: ObjectType; size: number }> {
    return this.run((objects) => objects.header(oid));
  }

  resolvePrefix(prefix: string, limit: number): Promise<Oid[]> {
    return this.#below.resolvePrefix(prefix, limit);
  }

  #over(below: SyncObjects): SyncObjects {
    return {
      has: (oid) => this.#made.has(oid) || below.has(oid),
      read: (oid) => this.#made.get(oid) ?? below.read(oid),
      header: (oid) => {
        const made = this.#made.get(oid);
        return made ? { type: made.type, size: made.data.length } : below.header(oid);
      },
    };
  }
}
