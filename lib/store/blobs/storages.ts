import { DEFAULT_STORAGE } from '../../records/storages.ts';

/**
 * Repository storages: buckets, or parts of them, where packs and derived files of repositories lie. `default` is the
 * instance's own bucket, which also has everything else. The key of an object in another one begins with `@<name>/`, so a
 * row that has the key tells the storage too, and no further read is needed.
 */
export interface RepositoryStorage {
  readonly bucket: string;
  /** What keys in the bucket begin with: empty, or a path that ends with `/`. */
  readonly prefix: string;
}

/** By name. */
export type RepositoryStorages = Readonly<Record<string, RepositoryStorage>>;

/** Parts of the instance's own bucket that are storages have keys of their own. */
const IN_OWN_BUCKET = 'storages/';

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/;
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const PATH = /^[\w.-]+(\/[\w.-]+)*$/;

/** A storage as it is configured: without a bucket it is left to the deployment to make one. */
export interface ConfiguredStorage {
  readonly name: string;
  readonly bucket: string | undefined;
  readonly prefix: string;
}

/** @param text `name`, `name=bucket` and `name=bucket/path`, separated by commas. @throws RangeError */
export function parseStorages(text: string): readonly ConfiguredStorage[] {
  const names = new Set([DEFAULT_STORAGE]);
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const [name = '', place, ...more] = part.split('=');
      const slash = place?.indexOf('/') ?? -1;
      const bucket = slash < 0 ? place : place!.slice(0, slash);
      const path = slash < 0 ? '' : place!.slice(slash + 1).replace(/\/+$/, '');
      const wrong = (problem: string) => new RangeError(`repository storages: ${part}: ${problem}`);
      if (!NAME.test(name)) throw wrong('a name has letters, digits, "-" and "_"');
      if (names.has(name)) throw wrong(`${name} exists already`);
      if (more.length > 0 || (bucket !== undefined && !BUCKET.test(bucket))) throw wrong('not a bucket');
      if (path !== '' && !PATH.test(path)) throw wrong('not a path');
      names.add(name);
      return { name, bucket, prefix: path === '' ? '' : `${path}/` };
    });
}

/**
 * @param text as {@link parseStorages} reads it; each with a bucket
 * @param ownBucket the bucket of `default`
 * @throws RangeError, also where the objects of two of them would be mixed
 */
export function readStorages(text: string, ownBucket: string): RepositoryStorages {
  const storages: Record<string, RepositoryStorage> = {
    [DEFAULT_STORAGE]: { bucket: ownBucket, prefix: '' },
  };
  for (const { name, bucket, prefix } of parseStorages(text)) {
    if (bucket === undefined) throw new RangeError(`repository storages: ${name} has no bucket`);
    if (bucket === ownBucket && !prefix.startsWith(IN_OWN_BUCKET))
      throw new RangeError(
        `repository storages: ${name}: in this bucket the path begins with ${IN_OWN_BUCKET}`,
      );
    for (const [other, { bucket: taken, prefix: path }] of Object.entries(storages)) {
      if (other === DEFAULT_STORAGE || taken !== bucket) continue;
      if (path.startsWith(prefix) || prefix.startsWith(path))
        throw new RangeError(`repository storages: ${name} and ${other} have the same place`);
    }
    storages[name] = { bucket, prefix };
  }
  return storages;
}
