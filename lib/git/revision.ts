import { ObjectMissing, type ObjectStore, type SyncObjects } from './objects.ts';
import { type Oid, parseOid } from './oid.ts';
import { parseCommitLinks, parseTag, type Tag } from './parse.ts';
import type { Ref } from './ports.ts';
import type { RefDatabase } from './ref-database.ts';
import { parseRefName, type RefName } from './refname.ts';

/** The commit that a name, an id or an expression such as `main~2` resolves to. */
export interface Resolved {
  readonly commit: Oid;
  /** The ref that was named; absent for ids and for expressions with a suffix. */
  readonly ref?: Ref;
  /** The annotated tag the ref or the id names; of a chain, the outermost. */
  readonly tag?: Tag & { readonly oid: Oid };
}

const MAX_LENGTH = 2048;
/** Number of `~` and `^` suffixes in one expression, and of the parents they may follow in all. */
const MAX_SUFFIXES = 32;
const MAX_STEPS = 10_000;
const MAX_TAG_CHAIN = 32;
/** An abbreviated id that matches more objects is ambiguous, whatever their types. */
const MAX_MATCHES = 64;

/**
 * Resolves the part of `git rev-parse` syntax that the API's `ref` and `sha` need: a full id; then `HEAD`, a full ref
 * name, a tag, a branch; then an abbreviated id (at least 4 digits) that matches one commit. Then the suffixes `~n`,
 * `^n`, `^{commit}` and `^{}`. Reads only the refs that the text may name.
 *
 * @returns undefined when it does not resolve to a commit. @throws ObjectMissing only for a ref to a missing object
 */
export async function resolveRevision(
  store: ObjectStore,
  refs: RefDatabase,
  text: string,
): Promise<Resolved | undefined> {
  if (text.length > MAX_LENGTH) return undefined;
  const split = text.search(/[~^]/);
  const steps = split < 0 ? [] : parseSuffixes(text.slice(split));
  const base = await resolveName(store, refs, split < 0 ? text : text.slice(0, split));
  if (base === undefined || steps === undefined) return undefined;
  if (steps.length === 0) return base;
  const commit = await follow(store, base.commit, steps);
  return commit && { commit };
}

/** The refs that {@link resolveRevision} looks up first; none for a full id. */
export type RevisionNames = 'HEAD' | readonly RefName[];

export function revisionNames(text: string): RevisionNames {
  if (text.length > MAX_LENGTH) return [];
  const [name = ''] = text.split(/[~^]/, 1);
  if (isHead(name)) return 'HEAD';
  return name === '' || parseOid(name.toLowerCase()) ? [] : candidates(name);
}

/** Follows annotated tags. @returns undefined when they end at a tree or a blob */
export function peelToCommit(objects: SyncObjects, oid: Oid): Omit<Resolved, 'ref'> | undefined {
  let outermost: Resolved['tag'];
  let at = oid;
  for (let depth = 0; depth <= MAX_TAG_CHAIN; depth++) {
    const object = objects.read(at);
    if (object.type === 'commit') return { commit: at, ...(outermost ? { tag: outermost } : {}) };
    if (object.type !== 'tag') return undefined;
    const tag = parseTag(object.data);
    outermost ??= { ...tag, oid: at };
    at = tag.object;
  }
  return undefined;
}

async function resolveName(
  store: ObjectStore,
  refs: RefDatabase,
  name: string,
): Promise<Resolved | undefined> {
  if (name === '') return undefined;
  const id = parseOid(name.toLowerCase());
  if (id) {
    const found = await peelIfPresent(store, id);
    if (found) return found;
  }
  const ref = isHead(name) ? (await refs.headRef()).head : await named(refs, name);
  if (ref !== undefined) {
    const peeled = await store.run((objects) => peelToCommit(objects, ref.oid));
    return peeled && { ...peeled, ref };
  }
  return id ? undefined : resolveAbbreviated(store, name.toLowerCase());
}

async function named(refs: RefDatabase, name: string): Promise<Ref | undefined> {
  const names = candidates(name);
  const found = names.length > 0 ? await refs.get(names) : new Map<RefName, Ref>();
  const first = names.find((candidate) => found.has(candidate));
  return first && found.get(first);
}

const isHead = (name: string) => name === 'HEAD' || name === '@';

/** In git's order: the name itself under `refs/`, a tag, a branch, a remote's branch. */
function candidates(name: string): RefName[] {
  const full = name.startsWith('refs/') ? [name] : [];
  const names = [...full, `refs/${name}`, `refs/tags/${name}`, `refs/heads/${name}`];
  return names.map(parseRefName).filter((candidate) => candidate !== undefined);
}

async function resolveAbbreviated(store: ObjectStore, prefix: string): Promise<Resolved | undefined> {
  if (!/^[0-9a-f]{4,39}$/.test(prefix)) return undefined;
  const matches = await store.resolvePrefix(prefix, MAX_MATCHES + 1);
  if (matches.length > MAX_MATCHES) return undefined;
  const isCommitish = (objects: SyncObjects, oid: Oid) =>
    ['commit', 'tag'].includes(objects.header(oid).type);
  const commitish = await store.run((objects) => matches.filter((oid) => isCommitish(objects, oid)));
  return commitish.length === 1 ? peelIfPresent(store, commitish[0]!) : undefined;
}

async function peelIfPresent(store: ObjectStore, oid: Oid): Promise<Resolved | undefined> {
  try {
    return await store.run((objects) => peelToCommit(objects, oid));
  } catch (error) {
    if (error instanceof ObjectMissing && error.oid === oid) return undefined;
    throw error;
  }
}

interface Step {
  /** Which parent, from 1; 0 is the commit itself. */
  readonly parent: number;
  readonly times: number;
}

/** @returns undefined for invalid syntax, or when it exceeds a limit */
function parseSuffixes(text: string): Step[] | undefined {
  const steps: Step[] = [];
  let total = 0;
  let rest = text;
  while (rest !== '') {
    const match = /^(?:~(\d{0,6})|\^(\d{0,6})|\^\{(?:commit)?\})(?![\d{])/.exec(rest);
    if (!match || steps.length === MAX_SUFFIXES) return undefined;
    const [whole, back, parent] = match;
    if (back !== undefined) steps.push({ parent: 1, times: back === '' ? 1 : Number(back) });
    else if (parent !== undefined) steps.push({ parent: parent === '' ? 1 : Number(parent), times: 1 });
    else steps.push({ parent: 0, times: 1 });
    total += steps.at(-1)!.times;
    if (total > MAX_STEPS) return undefined;
    rest = rest.slice(whole.length);
  }
  return steps;
}

async function follow(store: ObjectStore, from: Oid, steps: readonly Step[]): Promise<Oid | undefined> {
  const walk = steps.flatMap(({ parent, times }) =>
    parent === 0 ? [] : Array.from({ length: times }, () => parent),
  );
  let at: Oid | undefined = from;
  let done = 0;
  await store.run((objects) => {
    for (; at !== undefined && done < walk.length; done++) {
      at = parseCommitLinks(objects.read(at).data).parents[walk[done]! - 1];
    }
  });
  return at;
}
