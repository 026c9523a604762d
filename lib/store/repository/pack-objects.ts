/** The bytes of one repository's packs: the object database that `lib/git` reads, over the bucket. */
import { ulid } from 'ulid';
import type {
  DerivedFile,
  DerivedFiles,
  DerivedKind,
  ObjectDatabase,
  PackContent,
  PackDescription,
  PackSink,
  PackSource,
  RandomAccess,
} from '../../git/ports.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { openDerived } from './derived-files.ts';
import { type NetworkMember, packPrefix } from './fork-networks.ts';

/** The list of packs: the repository's catalogue in the table. */
export interface PackCatalogue {
  listPacks(options?: { fresh?: boolean }): Promise<readonly PackDescription[]>;
  /** As of the last listing. */
  derived(kind: DerivedKind): DerivedFile | undefined;
}

/** Up to this size pack and index are one object: one PUT per API commit. */
const JOINED_BYTES = 8 * 1024 * 1024;

/** The stored objects of a pack. */
export const packObjectKeys = ({ layout, location }: PackDescription): readonly string[] =>
  layout === 'joined' ? [location] : [`${location}.pack`, `${location}.idx`];

export class GitObjects implements ObjectDatabase {
  readonly derived: DerivedFiles;
  readonly #blobs: Blobs;
  readonly #catalogue: PackCatalogue;
  readonly #prefix: string;

  /**
   * @param networkId the fork network; the repository's own id if it is not a fork
   * @param storagePrefix what the keys of its new packs begin with
   */
  constructor(
    blobs: Blobs,
    catalogue: PackCatalogue,
    repositoryId: string,
    networkId = repositoryId,
    storagePrefix = '',
  ) {
    this.#blobs = blobs;
    this.#catalogue = catalogue;
    this.derived = {
      current: (kind) => catalogue.derived(kind),
      open: (file) => openDerived(blobs, file),
    };
    this.#prefix = packPrefix({ repositoryId, networkId, storagePrefix });
  }

  listPacks(options?: { fresh?: boolean }): Promise<readonly PackDescription[]> {
    return this.#catalogue.listPacks(options);
  }

  open(pack: PackDescription, part: 'pack' | 'index'): RandomAccess {
    const size = part === 'pack' ? pack.packSize : pack.indexSize;
    const [key, base] =
      pack.layout === 'joined'
        ? [pack.location, part === 'pack' ? 0 : pack.packSize]
        : [`${pack.location}.${part === 'pack' ? 'pack' : 'idx'}`, 0];
    return {
      size,
      read: (offset, length) => this.#blobs.read(key, base + offset, Math.min(length, size - offset)),
    };
  }

  async newPack(
    content: PackContent,
    about: { source: PackSource; objectCount: number },
  ): Promise<PackDescription> {
    const id = ulid();
    const packSize = content.kind === 'bytes' ? content.pack.length : content.packSize;
    const indexSize = content.index.length;
    const location = this.#prefix + id;
    const layout = content.kind === 'bytes' && packSize + indexSize <= JOINED_BYTES ? 'joined' : 'split';
    if (content.kind === 'bytes' && layout === 'joined') {
      await this.#blobs.put(location, Buffer.concat([content.pack, content.index], packSize + indexSize));
    } else {
      await Promise.all([
        content.kind === 'bytes'
          ? this.#blobs.put(`${location}.pack`, content.pack)
          : this.#blobs.putFile(`${location}.pack`, content.packPath, content.packSize),
        this.#blobs.put(`${location}.idx`, content.index),
      ]);
    }
    return { id, ...about, packSize, indexSize, layout, location };
  }

  async rollbackPack(pack: PackDescription): Promise<void> {
    await this.#blobs.delete(packObjectKeys(pack)).catch(() => {
      // Never listed: a sweep deletes it.
    });
  }
}

/** Streams a large pack to the bucket; its index follows in a separate object. */
export function packSinkTo(blobs: Blobs, owner: NetworkMember): PackSink {
  const id = ulid();
  const location = packPrefix(owner) + id;
  const writer = blobs.writer(`${location}.pack`);
  let packSize = 0;
  return {
    write: async (bytes) => {
      packSize += bytes.length;
      await writer.write(bytes);
    },
    finish: async (index, about) => {
      await blobs.put(`${location}.idx`, index);
      await writer.finish();
      return { id, ...about, packSize, indexSize: index.length, layout: 'split', location };
    },
    abort: () => writer.abort(),
  };
}
