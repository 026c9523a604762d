import { readFileSync } from 'node:fs';
import { monotonicFactory } from 'ulid';
import { type Oid, ZERO_OID } from './oid.ts';
import { memoryAccess } from './pack/content.ts';
import {
  type DerivedContent,
  type DerivedFile,
  type DerivedKind,
  type ObjectDatabase,
  type PackDescription,
  type Provenance,
  type Ref,
  RefConflict,
  type RefRejection,
  type RefUpdate,
} from './ports.ts';
import type { RefDatabase } from './ref-database.ts';
import { dropsTip } from './ref-tips.ts';
import { parseRefName, type RefName, spacePrefix } from './refname.ts';

const ulid = monotonicFactory();

/** A repository in memory that keeps the contracts of both ports. For tests, and for temporary work. */
export class MemoryRepository {
  readonly objects: ObjectDatabase;
  readonly refs: RefDatabase;
  /** When set, every compare-and-swap is refused with it, as by a moving or deleted repository. */
  refusal: Extract<RefRejection, 'read-only' | 'deleted' | 'collected'> | undefined;
  readonly #stored = new Map<string, { pack: Uint8Array; index: Uint8Array }>();
  readonly #refs = new Map<RefName, Ref>();
  /** See {@link RefDatabase.pinned}. */
  readonly pinnedCommits = new Set<Oid>();
  /** See {@link RefDatabase.recentTips}. Entries stay until the caller removes them. */
  readonly oldTips: Ref[] = [];
  #listed: PackDescription[] = [];
  readonly #derived = new Map<DerivedKind, DerivedFile>();
  readonly #derivedBytes = new Map<string, Uint8Array>();
  #head: RefName;

  constructor(options: { readonly head?: RefName } = {}) {
    this.#head = options.head ?? parseRefName('refs/heads/main')!;
    this.objects = {
      listPacks: async () => [...this.#listed],
      open: (pack, part) => {
        const stored = this.#stored.get(pack.id);
        if (!stored) throw new Error(`pack ${pack.id} is not stored`);
        return memoryAccess(stored[part]);
      },
      newPack: async (content, about) => {
        const pack = content.kind === 'bytes' ? content.pack : readFileSync(content.packPath);
        const id = ulid();
        this.#stored.set(id, { pack, index: content.index });
        return {
          id,
          source: about.source,
          objectCount: about.objectCount,
          packSize: pack.length,
          indexSize: content.index.length,
          layout: 'split',
          location: 'memory',
        };
      },
      rollbackPack: async (pack) => {
        if (!this.#listed.some((listed) => listed.id === pack.id)) this.#stored.delete(pack.id);
      },
      derived: {
        current: (kind) => this.#derived.get(kind),
        open: ({ id }) => memoryAccess(this.#derivedBytes.get(id)!),
      },
    };
    this.refs = {
      all: async ({ prefix = '' } = {}) => ({
        head: this.#head,
        refs: [...this.#refs.values()].filter((ref) => ref.name.startsWith(prefix)).sort(byName),
      }),
      view: async () => ({
        head: this.#head,
        refs: (prefix = '', after = '') => {
          const refs = [...this.#refs.values()].filter((ref) => ref.name.startsWith(prefix)).sort(byName);
          return eachOf([refs.filter((ref) => byName({ name: after }, ref) < 0)]);
        },
      }),
      page: async ({ space, after = '', offset = 0, limit, descending = false }) => {
        const { refs } = await this.refs.all({ prefix: spacePrefix(space) });
        const listed = refs.filter((ref) => space === 'heads' || ref.committed !== null);
        if (descending) listed.reverse();
        const rest = listed.filter((ref) => byName({ name: after }, ref) < 0).slice(offset);
        return { refs: rest.slice(0, limit), total: listed.length, more: rest.length > limit };
      },
      get: async (names) =>
        new Map(
          names.flatMap((name) => (this.#refs.has(name) ? [[name, this.#refs.get(name)!] as const] : [])),
        ),
      head: async () => this.#head,
      headRef: async () => ({ target: this.#head, head: this.#refs.get(this.#head) }),
      pinned: () => eachOf(this.pinnedCommits),
      recentTips: async () => this.oldTips,
      compareAndSwap: async (updates, options = {}) => this.#swap(updates, options),
    };
  }

  /** Changes the listing outside a transaction, as maintenance does with its own. */
  relist(change: (packs: readonly PackDescription[]) => PackDescription[]): void {
    this.#listed = change(this.#listed);
  }

  /** See {@link MaintainedObjects.storeDerived}. */
  async storeDerived(
    kind: DerivedKind,
    content: DerivedContent,
    provenance: Provenance,
  ): Promise<DerivedFile> {
    const bytes = content.kind === 'bytes' ? content.bytes : readFileSync(content.path);
    const { size, checksumsCrc } = content;
    const id = ulid();
    const crc = checksumsCrc === undefined ? {} : { checksumsCrc };
    const file = { kind, id, size, ...crc, provenance, location: 'memory' };
    this.#derivedBytes.set(id, bytes);
    this.#derived.set(kind, file);
    return file;
  }

  #swap(
    updates: readonly RefUpdate[],
    { packs = [], head }: { packs?: readonly PackDescription[]; head?: RefName },
  ): void {
    if (this.refusal) throw new RefConflict([{ name: null, reason: this.refusal }]);
    const rejections: { name: RefName; reason: RefRejection }[] = [];
    const after = new Map(this.#refs);
    for (const update of updates) {
      const current = this.#refs.get(update.name)?.oid ?? ZERO_OID;
      if (current !== update.from) {
        rejections.push({ name: update.name, reason: update.from === ZERO_OID ? 'exists' : 'stale' });
      }
      if (update.to === ZERO_OID) after.delete(update.name);
      else {
        const { name, to, peeled, committed } = update;
        after.set(name, {
          name,
          oid: to,
          ...(peeled === undefined ? {} : { peeled }),
          ...(committed === undefined ? {} : { committed }),
        });
      }
    }
    for (const { name, from, to } of updates) {
      if (from === ZERO_OID && to !== ZERO_OID && clashes(name, after)) {
        rejections.push({ name, reason: 'prefix-conflict' });
      }
    }
    for (const pack of packs) {
      if (!this.#stored.has(pack.id)) throw new Error(`pack ${pack.id} was not stored, or was rolled back`);
    }
    if (rejections.length > 0) throw new RefConflict(rejections);
    for (const update of updates) {
      const before = this.#refs.get(update.name);
      if (before !== undefined && dropsTip(update)) this.oldTips.unshift(before);
    }
    this.#refs.clear();
    for (const [name, ref] of after) this.#refs.set(name, ref);
    this.#listed = [...packs].reverse().concat(this.#listed);
    if (head !== undefined) this.#head = head;
  }
}

async function* eachOf<T>(values: Iterable<T>): AsyncGenerator<T> {
  yield* values;
}

/** As with git's loose refs, `a` and `a/b` cannot both exist. */
function clashes(name: RefName, refs: ReadonlyMap<RefName, Ref>): boolean {
  for (const other of refs.keys()) {
    if (other.startsWith(`${name}/`) || name.startsWith(`${other}/`)) return true;
  }
  return false;
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return Buffer.compare(Buffer.from(a.name), Buffer.from(b.name));
}
