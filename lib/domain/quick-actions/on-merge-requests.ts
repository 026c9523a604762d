/** Runs the quick actions in descriptions of merge requests and in notes on them. */

import type { MergeRequestFields, MergeRequestRecord } from '../../records/merge-requests.ts';
import type { Write } from '../../store/table/write.ts';
import { can, signedIn } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { changeMergeRequest } from '../merge-requests/change.ts';
import { conversationOf } from '../merge-requests/conversation.ts';
import { getMergeRequest } from '../merge-requests/find.ts';
import {
  type ActedDescription,
  type DescribedMergeRequest,
  mayUpdate,
} from '../merge-requests/merge-requests.ts';
import { countsOf, mergeRequestWithNotes } from '../merge-requests/noted.ts';
import type { ActedNote, NoteCounts, NotedObject } from '../notes/noteable.ts';
import { type ExtractedAction, extractFromDescription, extractFromNote } from './extract.ts';
import { requireFewEnough } from './few-enough.ts';
import { type Interpretation, interpret } from './interpret.ts';
import { ACTION_PATTERN } from './names.ts';
import { MERGE_REQUEST_ACTIONS } from './of-merge-requests.ts';

/** @throws 400 for too many or too long actions */
export async function actInDescription(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  description: string,
  mergeRequestOf: () => Promise<DescribedMergeRequest>,
): Promise<ActedDescription | undefined> {
  const found = extractFromDescription(description, ACTION_PATTERN);
  if (found === undefined) return undefined;
  const { fields, notes, finish } = await run(deps, actor, access, await mergeRequestOf(), found.actions);
  return { text: found.text, change: (record) => requireFewEnough(fields(record)), notes, finish };
}

/** @throws 400 for too many or too long actions */
export async function actInNote(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
  on: NotedObject,
  note: string,
): Promise<ActedNote | undefined> {
  const found = extractFromNote(note, ACTION_PATTERN);
  if (found === undefined) return undefined;
  const { mergeRequest } = await getMergeRequest(deps, actor, access, iid);
  const described = { stored: mergeRequest, title: mergeRequest.title };
  const { fields, notes, changesFields, finish, ...done } = await run(
    deps,
    actor,
    access,
    described,
    found.actions,
  );
  const change = async (counts?: NoteCounts, write?: (alongside: readonly Write[]) => Promise<void>) => {
    const changed = (before: MergeRequestRecord): Partial<MergeRequestFields> => ({
      ...requireFewEnough(fields(before)),
      updatedAt: deps.now().toISOString(),
    });
    await changeMergeRequest(deps, actor, access, iid, changed, {
      notes,
      ...(counts === undefined ? {} : { add: countsOf(counts) }),
      ...(write === undefined ? {} : { within: write }),
    });
  };
  return {
    text: found.text,
    ...done,
    on: changesFields ? { ...on, within: change } : on,
    finish: () => finish(mergeRequest),
    apply: () => (changesFields ? change() : Promise.resolve()),
  };
}

function run(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  { stored, title }: DescribedMergeRequest,
  actions: readonly ExtractedAction[],
): Promise<Interpretation<MergeRequestFields, MergeRequestRecord>> {
  const context = {
    ...{ deps, access, title, stored },
    actor: signedIn(actor),
    kind: 'merge-request',
    may: {
      write: stored === undefined || mayUpdate(actor, access, stored),
      organize: can(actor, access, 'organize_merge_requests'),
      trackTime: can(actor, access, 'update_merge_request'),
      comment: can(actor, access, 'comment_on_merge_requests'),
    },
    assignees: 'read_merge_requests',
    conversation: () => conversationOf({ mergeRequest: stored!, access }),
    noted: () => mergeRequestWithNotes(deps, actor, access, stored!.iid),
  } as const;
  return interpret(MERGE_REQUEST_ACTIONS, context, actions);
}
