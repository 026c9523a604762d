/** CODEOWNERS of a commit, and what a change touches that has owners by it. */

import { asBuffer } from '../../bytes/as-buffer.ts';
import type { NewObject } from '../../git/edit.ts';
import { LruCache } from '../../git/lru-cache.ts';
import type { Oid } from '../../git/oid.ts';
import type { GitRepository } from '../../git/repository.ts';
import { decodePath } from '../../git/tree/path.ts';
import { inTurns, LimitExceeded } from '../../git/work.ts';
import { type MatchedEntry, matchedEntries } from './match.ts';
import { type OwnersSection, parseOwners, tooLarge } from './parse.ts';

/** The first that exists counts. */
export const OWNERS_PATHS = ['CODEOWNERS', 'docs/CODEOWNERS', '.gitlab/CODEOWNERS'] as const;

const MAX_BYTES = 512 * 1024;

export interface OwnersFile {
  readonly path: string;
  readonly sections: readonly OwnersSection[];
}

type Reads = Pick<GitRepository, 'entryAt' | 'blobHeader' | 'readBlob' | 'changes'>;

/** @returns undefined where there is none @throws LimitExceeded */
export async function ownersFile(git: Reads, commit: Oid): Promise<OwnersFile | undefined> {
  for (const path of OWNERS_PATHS) {
    const entry = await git.entryAt(commit, path);
    if (entry?.type === 'blob') return { path, sections: await sectionsOf(git, entry.id) };
  }
  return undefined;
}

interface ParsedFile {
  readonly sections: readonly OwnersSection[];
  readonly size: number;
}

/** Files that were parsed last, by their ids, which tell their content. */
const parsed = new LruCache<ParsedFile>({ sizeOf: ({ size }) => size, maxSize: 2 * MAX_BYTES });

async function sectionsOf(git: Reads, oid: Oid): Promise<readonly OwnersSection[]> {
  const known = parsed.get(oid);
  const size = known?.size ?? (await git.blobHeader(oid))?.size ?? 0;
  if (size > MAX_BYTES) throw tooLarge();
  const sections = known?.sections ?? (await inTurns(parseOwners(textOf(await git.readBlob(oid)))));
  return parsed.use(oid, { sections, size }).sections;
}

/** What is no text names nobody. */
const textOf = (data: Uint8Array = new Uint8Array()): string =>
  data.includes(0) ? '' : asBuffer(data).toString();

/** A commit, or a tree, and objects of it that are not stored. */
export interface MadeCommit {
  readonly oid: Oid;
  readonly objects?: readonly NewObject[];
}

/** The paths that differ. A file that was moved has two. @throws LimitExceeded */
export async function changedPaths(
  git: Reads,
  from: Oid,
  { oid, objects = [] }: MadeCommit,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const options = { made: objects, ...(signal === undefined ? {} : { signal }) };
  const { changes, truncated } = await git.changes(from, oid, options);
  if (truncated) throw new LimitExceeded('too many files are changed to find code owners');
  return changes.map(({ path }) => decodePath(path));
}

/** @throws LimitExceeded */
export const entriesFor = (
  { sections }: OwnersFile,
  paths: readonly string[],
  signal?: AbortSignal,
): Promise<MatchedEntry[]> => inTurns(matchedEntries(sections, paths), signal);
