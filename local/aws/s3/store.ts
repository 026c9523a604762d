import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readdir, rename, rm, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type Conditions, checkWrite } from './conditions.ts';
import { DirectorySync } from './durable.ts';
import { noSuchBucket, S3Error } from './errors.ts';
import { fileNameOf, keyOf } from './file-name.ts';
import { KeyIndex } from './key-index.ts';
import { KeyLocks } from './key-locks.ts';
import { Draft, type ObjectMeta, type OpenObject, openObject, readMeta } from './object-file.ts';

/**
 * Buckets in a directory:
 *
 *     tmp/                        drafts; deleted at open
 *     buckets/<name>/objects/     one file per object (object-file.ts, file-name.ts)
 *     buckets/<name>/uploads/<id> one directory per multipart upload (multipart.ts)
 *
 * Only one process may have it open at a time.
 */
export class Store {
  readonly durable: boolean;
  readonly directories: DirectorySync;
  readonly #root: string;
  readonly #buckets = new Map<string, Bucket>();
  /** A bucket that is not known yet. */
  #found: (name: string) => Bucket | undefined = () => undefined;

  private constructor(root: string, durable: boolean) {
    this.#root = root;
    this.durable = durable;
    this.directories = new DirectorySync(durable);
  }

  static async open(root: string, { durable }: { durable: boolean }): Promise<Store> {
    const store = new Store(root, durable);
    await rm(store.tmpDir, { recursive: true, force: true });
    await store.directories.makeDirectory(store.tmpDir);
    await store.directories.makeDirectory(join(root, 'buckets'));
    for (const entry of await readdir(join(root, 'buckets'), { withFileTypes: true })) {
      if (entry.isDirectory()) store.#buckets.set(entry.name, store.#bucketAt(entry.name));
    }
    return store;
  }

  /** A directory that another thread has open, to read objects by their keys and nothing else. */
  static reading(root: string): Store {
    const store = new Store(root, true);
    store.#found = (name) =>
      isBucketName(name) && existsSync(store.#dirOf(name)) ? store.#bucketAt(name) : undefined;
    return store;
  }

  get tmpDir(): string {
    return join(this.#root, 'tmp');
  }

  /** @throws S3Error NoSuchBucket */
  bucket(name: string): Bucket {
    const bucket = this.#buckets.get(name) ?? this.#found(name);
    if (bucket === undefined) throw noSuchBucket(name);
    this.#buckets.set(name, bucket);
    return bucket;
  }

  bucketNames(): string[] {
    return [...this.#buckets.keys()].sort();
  }

  /** @throws S3Error InvalidBucketName, BucketAlreadyOwnedByYou */
  async createBucket(name: string): Promise<void> {
    if (!isBucketName(name)) {
      throw new S3Error('InvalidBucketName', 'The specified bucket is not valid.', { BucketName: name });
    }
    if (this.#buckets.has(name)) throw alreadyOwned(name);
    const draft = join(this.tmpDir, randomUUID());
    await mkdir(join(draft, 'objects'), { recursive: true });
    await mkdir(join(draft, 'uploads'));
    await this.directories.sync(draft);
    // Another request may have created it meanwhile.
    if (this.#buckets.has(name)) throw alreadyOwned(name);
    const bucket = this.#bucketAt(name);
    this.#buckets.set(name, bucket);
    await rename(draft, bucket.dir);
    await this.directories.sync(join(this.#root, 'buckets'));
  }

  /** @throws S3Error NoSuchBucket, BucketNotEmpty */
  async deleteBucket(name: string): Promise<void> {
    const bucket = this.bucket(name);
    try {
      await rmdir(bucket.objectsDir);
    } catch (error) {
      if (!isCode(error, 'ENOTEMPTY', 'EEXIST')) throw error;
      throw new S3Error('BucketNotEmpty', 'The bucket you tried to delete is not empty', {
        BucketName: name,
      });
    }
    this.#buckets.delete(name);
    await rm(bucket.dir, { recursive: true });
    await this.directories.sync(join(this.#root, 'buckets'));
  }

  #bucketAt(name: string): Bucket {
    return new Bucket(this, name, this.#dirOf(name));
  }

  #dirOf(name: string): string {
    return join(this.#root, 'buckets', name);
  }
}

const isBucketName = (name: string) =>
  /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(name) && !name.includes('..');

export class Bucket {
  readonly name: string;
  readonly dir: string;
  readonly objectsDir: string;
  readonly uploadsDir: string;
  readonly store: Store;
  readonly locks = new KeyLocks();
  #index: KeyIndex | undefined;

  constructor(store: Store, name: string, dir: string) {
    this.store = store;
    this.name = name;
    this.dir = dir;
    this.objectsDir = join(dir, 'objects');
    this.uploadsDir = join(dir, 'uploads');
  }

  /** Read from the directory at the first listing, then kept in memory: opening a store does not depend on its size. */
  get index(): KeyIndex {
    if (this.#index === undefined) {
      const keys = readdirSync(this.objectsDir).map((name) => keyOf(name) ?? this.#keyInFooter(name));
      this.#index = new KeyIndex(keys.filter((key) => key !== undefined));
    }
    return this.#index;
  }

  #keyInFooter(fileName: string): string | undefined {
    return readMeta(join(this.objectsDir, fileName))?.key;
  }

  pathOf(key: string): string {
    return join(this.objectsDir, fileNameOf(key));
  }

  openObject(key: string): OpenObject | undefined {
    return openObject(this.pathOf(key));
  }

  readMeta(key: string): ObjectMeta | undefined {
    return readMeta(this.pathOf(key));
  }

  async createDraft(): Promise<Draft> {
    return Draft.create(this.store.tmpDir, this.store.durable);
  }

  /**
   * A write, from its first byte to its commit: `fill` writes the data and returns the footer's metadata. The conditions
   * are checked before, to fail early, and again at the commit, which decides.
   *
   * @throws S3Error PreconditionFailed, ConditionalRequestConflict, NoSuchKey (If-Match without an object)
   */
  async write(
    key: string,
    conditions: Conditions,
    fill: () => Promise<{ draft: Draft; meta: Omit<ObjectMeta, 'size' | 'key'> }>,
    signal?: AbortSignal,
  ): Promise<ObjectMeta> {
    const conditional = conditions.ifMatch !== undefined || conditions.ifNoneMatch !== undefined;
    const pending = conditional ? this.locks.beginConditional(key) : undefined;
    let draft: Draft | undefined;
    try {
      if (conditional) checkWrite(conditions, this.readMeta(key), key);
      const filled = await fill();
      draft = filled.draft;
      const meta = await draft.seal({ key, ...filled.meta });
      signal?.throwIfAborted();
      await this.locks.hold(key, async () => {
        if (conditional) {
          if (pending?.overtaken()) {
            throw new S3Error(
              'ConditionalRequestConflict',
              'The conditional request cannot succeed due to a conflicting operation against this resource.',
              { Key: key },
            );
          }
          checkWrite(conditions, this.readMeta(key), key);
        }
        await rename(filled.draft.path, this.pathOf(key));
        this.#index?.add(key);
        await this.store.directories.sync(this.objectsDir);
      });
      return meta;
    } catch (error) {
      await draft?.discard();
      throw error;
    } finally {
      pending?.end();
    }
  }

  /** @returns whether the object existed; S3's answer is the same in both cases */
  async deleteObject(key: string, ifMatch?: string): Promise<boolean> {
    return this.locks.hold(key, async () => {
      if (ifMatch !== undefined) checkWrite({ ifMatch }, this.readMeta(key), key);
      try {
        await unlink(this.pathOf(key));
      } catch (error) {
        if (isCode(error, 'ENOENT')) return false;
        throw error;
      }
      this.#index?.delete(key);
      this.locks.deleted(key);
      await this.store.directories.sync(this.objectsDir);
      return true;
    });
  }
}

export function isCode(error: unknown, ...codes: string[]): boolean {
  return codes.includes((error as NodeJS.ErrnoException)?.code ?? '');
}

const alreadyOwned = (name: string) =>
  new S3Error(
    'BucketAlreadyOwnedByYou',
    'Your previous request to create the named bucket succeeded and you already own it.',
    { BucketName: name },
  );
