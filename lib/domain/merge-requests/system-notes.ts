/** What the service notes on a merge request about a change of it. */

import type { MergeRequestRecord } from '../../records/merge-requests.ts';
import { isDraft } from '../../records/merge-requests.ts';
import type { SystemNote } from '../../records/notes.ts';
import type { Write } from '../../store/table/write.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import {
  inPlaceOf,
  labelNotes,
  lockedText,
  milestoneNotes,
  movedIds,
  ofField,
  peopleText,
  systemNoteWrites,
  TEXTS_OF_ALL,
  type Tell,
  toldIn,
} from '../tracked/system-notes.ts';

/**
 * The notes of a change, for its transaction.
 * @param further notes that do not follow from the fields
 */
export async function systemNotes(
  deps: Deps,
  actor: Actor,
  before: MergeRequestRecord | undefined,
  after: MergeRequestRecord,
  further: readonly SystemNote[] = [],
): Promise<Write[]> {
  // What a new one has beside its texts is told as a change of one without.
  const from: MergeRequestRecord = before ?? { ...after, labelIds: [], milestoneId: null, reviewerIds: [] };
  const { store } = deps;
  const moved = [
    ...movedIds(from.assigneeIds, after.assigneeIds),
    ...movedIds(from.reviewerIds, after.reviewerIds),
  ];
  const milestoneId = after.milestoneId ?? from.milestoneId;
  const [users, milestone] = await Promise.all([
    moved.length === 0 ? [] : store.users.getMany([...new Set(moved)]),
    milestoneId === null || from.milestoneId === after.milestoneId
      ? undefined
      : store.milestones.get(milestoneId),
  ]);
  const usernames = new Map(users.flatMap((each) => (each === undefined ? [] : [[each.id, each.username]])));
  const plain = [
    ...toldIn(TEXTS, from, after, usernames),
    ...labelNotes(from, after),
    ...milestoneNotes(from, after, milestone),
    ...stateNotes(from, after),
  ];
  const notes = inPlaceOf(plain, further);
  const on = {
    projectId: after.projectId,
    noteable: { kind: 'merge-request', id: after.id },
    iid: after.iid,
  } as const;
  return systemNoteWrites(deps, actor, on, notes);
}

const field = ofField<MergeRequestRecord>();
const { title, ...texts } = TEXTS_OF_ALL;

const TEXTS: Readonly<Record<string, Tell<MergeRequestRecord>>> = {
  // Of a title that only stops saying so, or begins to, that it is a draft is all there is to tell.
  title: (before, after, usernames) =>
    withoutDraft(before.title) === withoutDraft(after.title) ? undefined : title(before, after, usernames),
  draft: (before, after) => {
    if (isDraft(before) === isDraft(after)) return undefined;
    return isDraft(after)
      ? 'marked this merge request as **draft**'
      : 'marked this merge request as **ready**';
  },
  ...texts,
  reviewer: ({ reviewerIds: before }, { reviewerIds: after }, usernames) =>
    peopleText([before, after], usernames, ['requested review from', 'removed review request for']),
  target_branch: field(
    'targetBranch',
    (branch, before) => `changed target branch from \`${before}\` to \`${branch}\``,
  ),
  merge: (before, after) =>
    before.autoMerge === null || before.targetBranch === after.targetBranch
      ? undefined
      : 'aborted the automatic merge because target branch was changed',
  locked: lockedText('merge request'),
};

/** A title without what says that it is a draft. */
export const withoutDraft = (title: string): string =>
  title.replace(/^\s*(?:(?:draft:|\[draft\]|\(draft\)|wip:|\[wip\])\s*)+/i, '');

function stateNotes(before: MergeRequestRecord, { state }: MergeRequestRecord): SystemNote[] {
  if (before.state === state) return [];
  const told = state === 'opened' ? 'reopened' : state;
  return [{ action: told, text: told, change: { kind: 'state', state: told } }];
}
