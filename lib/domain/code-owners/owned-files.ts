/** What a merge request changes that has code owners. */

import type { Oid } from '../../git/oid.ts';
import type { GitRepository } from '../../git/repository.ts';
import { LimitExceeded } from '../../git/work.ts';
import { MAX_OWNED, type OwnedFiles } from '../../records/merge-requests.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { mapLimit } from '../../store/table/map-limit.ts';
import { MembershipCache } from '../access/effective-level.ts';
import { projectAccess } from '../access/open-request.ts';
import type { Deps } from '../deps.ts';
import type { MatchedEntry } from './match.ts';
import { DEFAULT_SECTION, type OwnersEntry } from './parse.ts';
import { changedPaths, entriesFor, type MadeCommit, ownersFile } from './read.ts';

/** Owners of one entry that are kept with a merge request. */
const MAX_USERS = 50;
const MAX_GROUPS = 20;
/** Users whose memberships are looked up for one merge request. */
const MAX_LOOKED_UP = 500;
const LOOKED_UP_AT_ONCE = 20;

export interface ProposedMerge {
  readonly target: Oid;
  readonly head: Oid;
  /** The merge bases of both. */
  readonly bases: readonly Oid[];
  /** What the target becomes, where that is found out: files may go to other paths than they have in the head. */
  readonly merged?: MadeCommit | undefined;
}

/**
 * The entries of the target's CODEOWNERS that are for the changes of a head, with the ids of their owners.
 * @param previous what was found before: an entry keeps its id
 */
export async function ownedFiles(
  deps: Deps,
  project: ProjectRecord,
  git: GitRepository,
  merge: ProposedMerge,
  previous: readonly OwnedFiles[],
  signal: AbortSignal,
): Promise<readonly OwnedFiles[]> {
  const owned = await ownersOfChange(deps, project, git, merge, signal);
  const known = new Map(previous.map((each) => [keyOf(each), each.id]));
  const isNew = owned.filter((each) => !known.has(keyOf(each)));
  if (isNew.length > 0) {
    const last = await deps.store.approvalRules.reserveIds(isNew.length);
    for (const [i, each] of isNew.entries()) known.set(keyOf(each), last - isNew.length + 1 + i);
  }
  return owned.map((each) => ({ id: known.get(keyOf(each))!, ...each }));
}

export type Owned = Omit<OwnedFiles, 'id'>;

/** Of several entries of a section with one pattern, only the last is ever found. */
const keyOf = ({ section, pattern }: Owned): string => `${section}\n${pattern}`;

/** The same without ids. */
export async function ownersOfChange(
  deps: Deps,
  project: ProjectRecord,
  git: GitRepository,
  { target, head, bases, merged }: ProposedMerge,
  signal: AbortSignal,
): Promise<readonly Owned[]> {
  try {
    const file = await ownersFile(git, target);
    if (file === undefined) return [];
    const paths = new Set<string>();
    for (const base of bases)
      for (const path of await changedPaths(git, base, { oid: head }, signal)) paths.add(path);
    if (merged !== undefined)
      for (const path of await changedPaths(git, target, merged, signal)) paths.add(path);
    const entries = await entriesFor(file, [...paths], signal);
    if (entries.length > MAX_OWNED) throw new LimitExceeded('too many entries match');
    return entries.length === 0 ? [] : await withOwners(deps, project, entries);
  } catch (error) {
    if (!(error instanceof LimitExceeded)) throw error;
    return [BEYOND];
  }
}

const BEYOND: Owned = {
  section: DEFAULT_SECTION,
  pattern: 'CODEOWNERS',
  approvalsRequired: 1,
  userIds: [],
  groupIds: [],
  unknown: true,
};

/** The owners who are members of the project, and groups. Whoever had a name before owns nothing by it. */
async function withOwners(
  deps: Deps,
  project: ProjectRecord,
  found: readonly MatchedEntry[],
): Promise<Owned[]> {
  const { names } = deps.store;
  const all = (of: (entry: OwnersEntry) => readonly string[]) => [
    ...new Set(found.flatMap(({ entry }) => of(entry))),
  ];
  const [paths, addresses] = [all((entry) => entry.names), all((entry) => entry.addresses)];
  const [holders, addressed] = await Promise.all([
    paths.length === 0 ? [] : names.holders('path', paths),
    addresses.length === 0 ? [] : names.holders('email', addresses),
  ]);
  const byName = new Map(holders.flatMap((holder, i) => (holder?.current ? [[paths[i]!, holder]] : [])));
  const byEmail = new Map(
    addressed.flatMap((holder, i) => (holder?.confirmed ? [[addresses[i]!, holder]] : [])),
  );
  const holdersOf = ({ entry }: MatchedEntry, type: 'user' | 'group') => {
    const named = [
      ...entry.names.flatMap((name) => byName.get(name) ?? []),
      ...entry.addresses.flatMap((email) => byEmail.get(email) ?? []),
    ];
    return [...new Set(named.flatMap((each) => (each.type === type ? each.id : [])))];
  };
  const members = await membersAmong(deps, project, [
    ...new Set(found.flatMap((each) => holdersOf(each, 'user'))),
  ]);
  return found.map((each) => ({
    section: each.section.name,
    pattern: each.entry.pattern,
    approvalsRequired: each.section.approvalsRequired,
    userIds: holdersOf(each, 'user')
      .filter((id) => members.has(id))
      .slice(0, MAX_USERS),
    groupIds: holdersOf(each, 'group').slice(0, MAX_GROUPS),
  }));
}

/** @throws LimitExceeded */
async function membersAmong(
  deps: Deps,
  project: ProjectRecord,
  userIds: readonly number[],
): Promise<ReadonlySet<number>> {
  if (userIds.length > MAX_LOOKED_UP) throw new LimitExceeded('there are too many code owners');
  const users = userIds.length === 0 ? [] : await deps.store.users.getMany(userIds);
  const members = new Set<number>();
  const known = users.flatMap((user) => user ?? []);
  await mapLimit(LOOKED_UP_AT_ONCE, known, async (user) => {
    const access = await projectAccess({ kind: 'user', user }, project, new MembershipCache(deps));
    if ((access?.level ?? 0) > 0) members.add(user.id);
  });
  return members;
}
