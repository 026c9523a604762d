/** Runs the quick actions in descriptions of issues and in notes on them. */

import type { IssueFields, IssueRecord } from '../../records/issues.ts';
import { signedIn } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { badRequest, forbidden, invalid } from '../errors.ts';
import { changeIssue, type NoteOfChange } from '../issues/change.ts';
import { type ActedDescription, type DescribedIssue, getIssue, mayUpdate } from '../issues/issues.ts';
import type { ActedNote, NotedObject } from '../notes/noteable.ts';
import { MAX_ASSIGNEES, MAX_LABELS } from '../tracked/input.ts';
import { type ExtractedAction, extractActions } from './extract.ts';
import { type Interpretation, interpret } from './interpret.ts';
import { ISSUE_ACTION_PATTERN, ISSUE_ACTIONS } from './of-issues.ts';

/** @throws 400 for too many or too long actions */
export async function actInDescription(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  description: string,
  issueOf: () => Promise<DescribedIssue>,
): Promise<ActedDescription | undefined> {
  const found = extractActions(description, ISSUE_ACTION_PATTERN, (problem) =>
    invalid({ description: [problem] }),
  );
  if (found === undefined) return undefined;
  const { fields, finish } = await run(deps, actor, access, await issueOf(), found.actions);
  return { text: found.text, change: (issue) => valid(fields(issue)), finish };
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
  const found = extractActions(note, ISSUE_ACTION_PATTERN, (problem) =>
    badRequest(`Note {:note=>["${problem}"]}`),
  );
  if (found === undefined) return undefined;
  const { issue } = await getIssue(deps, actor, access, iid);
  const described = { stored: issue, type: issue.type, confidential: issue.confidential };
  const { fields, changesFields, finish, ...done } = await run(deps, actor, access, described, found.actions);
  const change = async (written?: NoteOfChange) => {
    const changed = (before: IssueRecord): Partial<IssueFields> => {
      // The actions were found to be allowed on the issue as it was read.
      if (!mayUpdate(actor, access, before)) throw forbidden();
      return { ...valid(fields(before)), updatedAt: deps.now().toISOString() };
    };
    await changeIssue(deps, actor, access, iid, changed, written === undefined ? {} : { note: written });
  };
  return {
    text: found.text,
    ...done,
    on: changesFields ? { ...on, within: ({ notes }, write) => change({ change: notes, write }) } : on,
    finish: () => finish(issue),
    apply: () => (changesFields ? change() : Promise.resolve()),
  };
}

const run = (
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  issue: DescribedIssue,
  actions: readonly ExtractedAction[],
): Promise<Interpretation<IssueFields, IssueRecord>> =>
  interpret(ISSUE_ACTIONS, { deps, actor: signedIn(actor), access, issue }, actions);

/** @throws 400 by field for more than an issue may have */
function valid(fields: Partial<IssueFields>): Partial<IssueFields> {
  const { labelIds = [], assigneeIds = [] } = fields;
  if (labelIds.length > MAX_LABELS) throw invalid({ labels: [`are too many (maximum is ${MAX_LABELS})`] });
  if (assigneeIds.length > MAX_ASSIGNEES)
    throw invalid({ assignees: [`are too many (maximum is ${MAX_ASSIGNEES})`] });
  return fields;
}
