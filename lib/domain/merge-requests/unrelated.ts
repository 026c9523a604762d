/**
 * Merge requests between projects that are no forks of each other any more, or of which the source is deleted: they are
 * closed, as who ended that, if they may close them. What they proposed stays in the target.
 */

import type { MergeRequestAddress, MergeRequestRecord } from '../../records/merge-requests.ts';
import { openFromProject, openToProject } from '../../store/merge-requests/open.ts';
import type { Writer } from '../../store/notes/mentions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import { type Actor, actingFor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { related } from '../forks/network.ts';
import { closeUnlessBrought } from './close.ts';
import { mayUpdate } from './merge-requests.ts';
import { headsOf } from './mergeability.ts';

/** Merge requests that are read together. */
const PAGE = 50;

/** A project that is no fork any more. */
export interface Unrelated extends Writer {
  readonly projectId: number;
  /** Where an earlier run stopped: among those that it is the source of, then among those to it. */
  readonly from?: { readonly side: 'source' | 'target'; readonly after?: string };
}

/**
 * @param deadline milliseconds since 1970; none is closed after it
 * @returns where to go on; undefined at the end
 */
export async function closeUnrelated(
  deps: Deps,
  unrelated: Unrelated,
  deadline: number,
): Promise<Unrelated | undefined> {
  const { projectId } = unrelated;
  const close = await closerOf(deps, unrelated);
  if (close === undefined) return undefined;
  for (let from = unrelated.from ?? { side: 'source' }; ; ) {
    if (Date.now() > deadline) return { ...unrelated, from };
    const { side, after } = from;
    const { items, next } =
      side === 'source'
        ? await openFromProject(deps.store, projectId, PAGE, after)
        : await openToProject(deps.store, projectId, PAGE, after);
    for (const each of items) {
      // What the page has closed by then is passed over the next time.
      if (Date.now() > deadline) return { ...unrelated, from };
      if (each !== undefined && isForeign(each, projectId)) await close(each);
    }
    if (next !== undefined) from = { side, after: next };
    else if (side === 'source') from = { side: 'target' };
    else return undefined;
  }
}

const isForeign = (
  each: MergeRequestAddress & Partial<Pick<MergeRequestRecord, 'source'>>,
  projectId: number,
): boolean => each.projectId !== projectId || (each.source?.projectId ?? projectId) !== projectId;

/**
 * Closes what a deleted project proposed to others.
 * @param deadline milliseconds since 1970
 * @returns those that are left; undefined: none is
 */
export async function closeSourceless(
  deps: Deps,
  {
    mergeRequests,
    actorId,
  }: { readonly mergeRequests: readonly MergeRequestAddress[]; readonly actorId: number | null },
  deadline: number,
): Promise<readonly MergeRequestAddress[] | undefined> {
  const close = await closerOf(deps, { actorId, baseUrl: deps.environment.baseUrl ?? '' });
  if (close === undefined) return undefined;
  for (const [i, address] of mergeRequests.entries()) {
    if (Date.now() > deadline) return mergeRequests.slice(i);
    await close(address);
  }
  return undefined;
}

/** @returns what closes a merge request, if its source is gone or not related to its target; undefined without an actor */
async function closerOf(
  deps: Deps,
  { actorId, baseUrl }: Writer,
): Promise<((address: MergeRequestAddress) => Promise<void>) | undefined> {
  const user = actorId === null ? undefined : await deps.store.users.get(actorId);
  if (user === undefined) return undefined;
  const actor = actingFor(user, baseUrl);
  return (address) => closeOne(deps, actor, address);
}

async function closeOne(
  deps: Deps,
  actor: Extract<Actor, { kind: 'user' }>,
  address: MergeRequestAddress,
): Promise<void> {
  const record = await deps.store.mergeRequests.get(address);
  if (record?.state !== 'opened') return;
  const [[access], source] = await Promise.all([
    projectAccesses(deps, actor, [record.projectId]),
    deps.store.projects.get(record.source.projectId),
  ]);
  if (access === undefined || !mayUpdate(actor, access, record)) return;
  // They may be related again by now.
  if (source !== undefined && related(source, access.project)) return;
  const heads = await headsOf(deps, access, record);
  await closeUnlessBrought(deps, actor, access, { record, heads });
}
