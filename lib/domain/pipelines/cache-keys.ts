/** Keys of caches that are made of files: `cache:key:files`. */
import { createHash } from 'node:crypto';
import type { PlannedJob } from '../../ci/plan.ts';
import { HistoryLimit } from '../../git/history/log-query.ts';
import type { Oid } from '../../git/oid.ts';
import type { GitRepository } from '../../git/repository.ts';

/** Files of a pipeline whose last commits are looked for, and commits that are looked at for each. */
const MAX_FILES = 20;
const MAX_COMMITS = 50_000;

export class CacheKeys {
  readonly #git: GitRepository;
  readonly #commit: Oid;
  readonly #known = new Map<string, Promise<string | undefined>>();
  constructor(git: GitRepository, commit: Oid) {
    this.#git = git;
    this.#commit = commit;
  }

  /** Caches with keys that are texts. */
  async of(caches: NonNullable<PlannedJob['cache']>): Promise<object[]> {
    const all: object[] = [];
    for (const cache of caches) {
      const { key } = cache;
      all.push(typeof key === 'object' ? { ...cache, key: await this.#keyOf(key) } : cache);
    }
    return all;
  }

  /** Of the last commits that changed the files; `default` where there is none of them. */
  async #keyOf({
    files,
    prefix,
  }: {
    readonly files: readonly string[];
    readonly prefix?: string;
  }): Promise<string> {
    const found: string[] = [];
    for (const file of files) {
      const version = await this.#versionOf(file);
      if (version !== undefined) found.push(version);
    }
    const digest = createHash('sha1')
      .update([...new Set(found)].toSorted().join('-'))
      .digest('hex');
    return [
      ...(prefix === undefined || prefix === '' ? [] : [prefix]),
      found.length === 0 ? 'default' : digest,
    ].join('-');
  }

  #versionOf(file: string): Promise<string | undefined> {
    let version = this.#known.get(file);
    if (version === undefined) {
      version = this.#read(file, this.#known.size < MAX_FILES);
      this.#known.set(file, version);
    }
    return version;
  }

  /** The last commit that changed a file; beyond the limits its content. */
  async #read(file: string, walks: boolean): Promise<string | undefined> {
    const entry = await this.#git.entryAt(this.#commit, file);
    if (entry === undefined || !walks) return entry?.id;
    try {
      return (await this.#git.lastCommitForPath(this.#commit, file, { maxCommits: MAX_COMMITS })) ?? entry.id;
    } catch (error) {
      if (error instanceof HistoryLimit) return entry.id;
      throw error;
    }
  }
}
