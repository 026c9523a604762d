/** Runs the quick actions in descriptions of issues and in notes on them. */

import type { IssueFields, IssueRecord } from '../../records/issues.ts';
import { can, signedIn } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { forbidden } from '../errors.ts';
import { changeIssue, type NoteOfChange } from '../issues/change.ts';
import { conversationOf } from '../issues/conversation.ts';
import { type ActedDescription, type DescribedIssue, getIssue, mayUpdate } from '../issues/issues.ts';
import { issueWithNotes } from '../issues/noted.ts';
import type { ActedNote, NotedObject } from '../notes/noteable.ts';
import { type ExtractedAction, extractFromDescription, extractFromNote } from './extract.ts';
import { requireFewEnough } from './few-enough.ts';
import { type Interpretation, interpret } from './interpret.ts';
import { ACTION_PATTERN } from './names.ts';
import { ISSUE_ACTIONS } from './of-issues.ts';

/** @throws 400 for too many or too long actions */
export async function actInDescription(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  description: string,
  issueOf: () => Promise<DescribedIssue>,
): Promise<ActedDescription | undefined> {
  const found = extractFromDescription(description, ACTION_PATTERN);
  if (found === undefined) return undefined;
  const { fields, notes, finish } = await run(deps, actor, access, await issueOf(), found.actions);
  return { text: found.text, change: (issue) => requireFewEnough(fields(issue)), notes, finish };
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
  const { issue } = await getIssue(deps, actor, access, iid);
  const described = { stored: issue, type: issue.type, confidential: issue.confidential };
  const { fields, notes, changesFields, finish, ...done } = await run(
    deps,
    actor,
    access,
    described,
    found.actions,
  );
  const change = async (written?: NoteOfChange) => {
    const changed = (before: IssueRecord): Partial<IssueFields> => {
      // The actions were found to be allowed on the issue as it was read.
      if (!mayUpdate(actor, access, before)) throw forbidden();
      return { ...requireFewEnough(fields(before)), updatedAt: deps.now().toISOString() };
    };
    await changeIssue(deps, actor, access, iid, changed, {
      notes,
      ...(written === undefined ? {} : { note: written }),
    });
  };
  return {
    text: found.text,
    ...done,
    on: changesFields ? { ...on, within: (counts, write) => change({ change: counts.notes, write }) } : on,
    finish: () => finish(issue),
    apply: () => (changesFields ? change() : Promise.resolve()),
  };
}

function run(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  issue: DescribedIssue,
  actions: readonly ExtractedAction[],
): Promise<Interpretation<IssueFields, IssueRecord>> {
  const { stored } = issue;
  const organize = can(actor, access, 'update_issue');
  const context = {
    ...{ deps, access, issue, stored },
    actor: signedIn(actor),
    kind: 'issue',
    may: {
      write: stored !== undefined && mayUpdate(actor, access, stored),
      organize,
      trackTime: organize,
      comment: can(actor, access, 'comment_on_issues'),
    },
    assignees: 'read_issues',
    conversation: () => conversationOf({ issue: stored!, access }),
    noted: () => issueWithNotes(deps, actor, access, stored!.iid),
  } as const;
  return interpret(ISSUE_ACTIONS, context, actions);
}
