/** What the quick actions of issues have in common. */

import type { IssueFields, IssueRecord } from '../../records/issues.ts';
import { can } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { type DescribedIssue, mayUpdate } from '../issues/issues.ts';
import type { Effect, QuickAction } from './interpret.ts';

export interface IssueContext {
  readonly deps: Deps;
  readonly actor: Extract<Actor, { kind: 'user' }>;
  readonly access: ProjectAccess;
  readonly issue: DescribedIssue;
}

export type IssueAction = QuickAction<IssueContext, IssueFields, IssueRecord>;
export type IssueEffect = Effect<IssueFields, IssueRecord>;
type Condition = IssueAction['applies'];

/** Reporters change everything about an issue, also about one that is being created. */
export const maySet: Condition = ({ actor, access }) => can(actor, access, 'update_issue');
/** The issue exists, and is such. */
export const stored =
  (isSuch: (issue: IssueRecord) => boolean = () => true): Condition =>
  ({ issue }) =>
    issue.stored !== undefined && isSuch(issue.stored);
export const mayWrite: Condition = ({ actor, access, issue }) =>
  issue.stored !== undefined && mayUpdate(actor, access, issue.stored);
export const mayComment: Condition = ({ actor, access }) => can(actor, access, 'comment_on_issues');
export const all =
  (...conditions: readonly Condition[]): Condition =>
  async (context) => {
    for (const condition of conditions) if (!(await condition(context))) return false;
    return true;
  };

/** An effect that is one field, by its name in answers. */
export const setting = <K extends keyof IssueFields>(
  [field, name]: readonly [K, string],
  value: IssueFields[K],
  summary: string,
): IssueEffect => ({
  summary,
  changes: () => ({ [name]: value }),
  fields: () => ({ [field]: value }) as Partial<IssueFields>,
});
