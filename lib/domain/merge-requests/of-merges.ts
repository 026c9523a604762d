/** The merge request that a commit merged, as messages of other commits name it. */

import type { Oid } from '../../git/oid.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { NamedMergeRequest } from '../commits/pick.ts';
import type { Deps } from '../deps.ts';
import { listWholeMergeRequests } from './list.ts';
import { MAX_NAMED_COMMITS } from './messages.ts';
import { proposedCommits } from './proposed.ts';

/** Merge requests of one commit that are looked at: the newest. */
const MAX_OF_COMMIT = 20;

/** @returns undefined where the commit merged none that the actor may read */
export async function mergeRequestOfMerge(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  merge: Oid,
): Promise<NamedMergeRequest | undefined> {
  const input = { scope: { kind: 'project', access }, state: 'merged', commitSha: merge } as const;
  const page = {
    page: 1,
    perPage: MAX_OF_COMMIT,
    order: 'created_at',
    direction: 'desc',
    count: false,
  } as const;
  const { items } = await listWholeMergeRequests(deps, actor, input, page);
  const found = items.find(({ mergeRequest }) => mergeRequest.mergeCommitSha === merge);
  if (found === undefined) return undefined;
  const { iid, diff } = found.mergeRequest;
  const newest = await proposedCommits(deps, access, diff, { offset: 0, perPage: MAX_NAMED_COMMITS });
  return { reference: `!${iid}`, commits: newest.items.toReversed() };
}
