/** The merge requests that name an issue. */
import type { MergeRequestAddress, MergeRequestRecord } from '../../records/merge-requests.ts';
import { can } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { closersOf } from '../issues/closers.ts';
import type { FoundIssue } from '../issues/related.ts';
import type { FoundMergeRequest } from './related.ts';

/** Merge requests of one issue that are found. */
const MAX_RELATED = 100;

/** Returns the merge requests that were noted on an issue and that the actor may see, 100 at most, the newest first. */
export const relatedMergeRequests = async (
  deps: Deps,
  actor: Actor,
  { issue }: FoundIssue,
): Promise<FoundMergeRequest[]> =>
  foundAt(deps, actor, await deps.store.mentions.namingMergeRequests(issue, MAX_RELATED));

/** Returns those that say they close the issue when they are merged, or did: as many as are counted with it. */
export const closingMergeRequests = (
  deps: Deps,
  actor: Actor,
  { issue, access }: FoundIssue,
): Promise<FoundMergeRequest[]> => foundAt(deps, actor, closersOf(issue, access));

async function foundAt(
  deps: Deps,
  actor: Actor,
  addresses: readonly MergeRequestAddress[],
): Promise<FoundMergeRequest[]> {
  if (addresses.length === 0) return [];
  const ids = [...new Set(addresses.map(({ projectId }) => projectId))];
  const [records, projects] = await Promise.all([
    deps.store.mergeRequests.getMany(addresses),
    projectAccesses(deps, actor, ids),
  ]);
  const found = records.flatMap((mergeRequest): FoundMergeRequest[] => {
    const access = projects[ids.indexOf(mergeRequest?.projectId ?? 0)];
    const isShown = mergeRequest !== undefined && access !== undefined;
    return isShown && can(actor, access, 'read_merge_requests') ? [{ mergeRequest, access }] : [];
  });
  return found.toSorted((a, b) => b.mergeRequest.id - a.mergeRequest.id);
}

/** What a merge request says itself. */
export async function textOfMergeRequest(
  store: Deps['store'],
  { title, description }: Pick<MergeRequestRecord, 'title' | 'description'>,
): Promise<string> {
  return `${title}\n\n${description === null ? '' : await store.texts.read(description)}`;
}
