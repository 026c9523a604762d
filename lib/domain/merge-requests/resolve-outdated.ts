/** Discussions on places that a new version of a merge request does not have: projects may want them resolved. */

import type { VersionCommits } from '../../records/merge-requests.ts';
import { type DiscussionRecord, isResolvable, type NotePosition } from '../../records/notes.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import { actingFor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../errors.ts';
import { discussionIdOf } from '../notes/discussion-id.ts';
import { resolveDiscussion } from '../notes/resolve.ts';
import { isFormer } from './former-position.ts';
import { latestPositions, MAX_TRACED } from './moved-positions.ts';
import { mergeRequestWithNotes } from './noted.ts';

interface NewVersion {
  readonly projectId: number;
  readonly iid: number;
  readonly before: VersionCommits;
  readonly after: VersionCommits;
  /** Of the version after. */
  readonly number: number;
  /** Who is told to have resolved them. */
  readonly actorId: number | null;
  readonly baseUrl: string;
  /** The first note of the last discussion that was looked at. */
  readonly from?: number | undefined;
}

/**
 * The work of the job. Discussions that were outdated before stay as they are, as others have seen them since.
 * @param deadline milliseconds since 1970. @returns where to go on; undefined at the end
 */
export async function resolveOutdated(
  deps: Deps,
  version: NewVersion,
  deadline: number,
): Promise<NewVersion | undefined> {
  const { projectId, iid, actorId, baseUrl } = version;
  const [user, record] = await Promise.all([
    actorId === null ? undefined : deps.store.users.get(actorId),
    deps.store.mergeRequests.get({ projectId, iid }),
  ]);
  if (user === undefined || record === undefined) return undefined;
  const actor = actingFor(user, baseUrl);
  const [access] = await projectAccesses(deps, actor, [projectId]);
  if (access === undefined) return undefined;
  const noteable = { kind: 'merge-request', id: record.id } as const;
  for (let from = version.from ?? 0; ; ) {
    if (Date.now() > deadline) return { ...version, from };
    const page = await deps.store.discussions.next(projectId, noteable, from, MAX_TRACED);
    const open = page.filter((each) => isResolvable(each) && each.resolved === undefined);
    for (const { firstId, position } of await outdatedBy(deps, access, version, open)) {
      const on = await mergeRequestWithNotes(deps, actor, access, iid);
      const what = position.on.kind === 'text' ? 'line' : 'file';
      const text = `changed this ${what} in version ${version.number} of the diff`;
      try {
        const id = discussionIdOf(projectId, noteable, firstId);
        const lastWord = { action: 'outdated', text, position };
        await resolveDiscussion(deps, actor, { ...on, resolves: true }, id, true, lastWord);
      } catch (error) {
        // It is gone, or others keep writing in it.
        if (!(error instanceof DomainError)) throw error;
      }
    }
    const last = page.at(-1);
    if (last === undefined) return undefined;
    from = last.firstId;
  }
}

interface Placed {
  readonly firstId: number;
  /** Where it was written. */
  readonly position: NotePosition;
}

/** Those of some discussions, at most {@link MAX_TRACED}, that have a place in the version before, and none in the one after. */
async function outdatedBy(
  deps: Deps,
  access: ProjectAccess,
  { before, after }: NewVersion,
  open: readonly DiscussionRecord[],
): Promise<Placed[]> {
  // Where there is no merge base, nothing tells where lines are.
  if (open.length === 0 || before.baseSha === null || after.baseSha === null) return [];
  const first = await Promise.all(open.map((each) => deps.store.discussions.noteIds(each, 0, 1)));
  const notes = await deps.store.notes.getMany(
    open.map(({ projectId, noteable }, i) => ({ projectId, noteable, id: first[i]![0]! })),
  );
  const placed = open.flatMap(({ firstId }, i): Placed[] => {
    const position = notes[i]?.position;
    return position === undefined ? [] : [{ firstId, position }];
  });
  const current = await withPlaceIn(deps, access, before, placed, true);
  return withPlaceIn(deps, access, after, current, false);
}

/** @param wanted whether those are returned that have a place in the version, or those that have none */
async function withPlaceIn(
  deps: Deps,
  access: ProjectAccess,
  version: VersionCommits,
  placed: readonly Placed[],
  wanted: boolean,
): Promise<Placed[]> {
  if (placed.length === 0) return [];
  const positions = placed.map(({ position }) => position);
  const latest = positions.some((each) => isFormer(each, version))
    ? await latestPositions(deps, access, version, positions)
    : positions;
  return placed.filter((_, i) => isFormer(latest[i], version) !== wanted);
}
