/** How records name the storage of a repository: by what the keys of its objects begin with (`lib/store/blobs/storages.ts`). */

export const DEFAULT_STORAGE = 'default';

/** What the keys of a repository's objects begin with; empty, where they are in the default storage and never moved. */
export type StoragePrefix = string;

/**
 * The beginning of the keys of a repository.
 * @param move of a repository that was moved: no other move has the same keys, so nothing that one leaves is taken for
 *   what another brings
 */
export function storagePrefix(storage: string, move?: string): StoragePrefix {
  if (move !== undefined) return `@${storage}/${move}/`;
  return storage === DEFAULT_STORAGE ? '' : `@${storage}/`;
}

/** The name of the storage. */
export const storageOf = (prefix: StoragePrefix | undefined): string =>
  prefix ? prefix.slice(1, prefix.indexOf('/')) : DEFAULT_STORAGE;
