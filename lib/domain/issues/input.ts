/** What callers may say about an issue, and what becomes of it by their rights. */

import type { HealthStatus, IssueType, Severity } from '../../records/issues.ts';
import type { UserRecord } from '../../records/users.ts';
import { MembershipCache } from '../access/effective-level.ts';
import { projectAccess } from '../access/open-request.ts';
import { can } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import type { EpicChoice } from '../epics/for-issues.ts';
import { type FieldProblems, invalid } from '../errors.ts';

/** What every user who may write an issue decides. */
export interface IssueTexts {
  readonly title?: string | undefined;
  readonly description?: string | null | undefined;
}

/** What Reporters decide; of others it is ignored. */
export interface IssueMetadata extends EpicChoice {
  /** Titles. Those that the project does not have are created. */
  readonly labels?: readonly string[] | undefined;
  readonly type?: IssueType | undefined;
  readonly assigneeIds?: readonly number[] | undefined;
  /** Null or 0: none. */
  readonly milestoneId?: number | null | undefined;
  /** Null or 0: none. */
  readonly iterationId?: number | null | undefined;
  readonly dueDate?: string | null | undefined;
  readonly weight?: number | null | undefined;
  readonly healthStatus?: HealthStatus | null | undefined;
  readonly severity?: Severity | undefined;
  readonly discussionLocked?: boolean | null | undefined;
}

const MAX_TITLE = 255;
/** Characters. */
export const MAX_DESCRIPTION = 1_048_576;
export const MAX_ASSIGNEES = 200;
/** Of one issue. */
export const MAX_LABELS = 500;

/** @throws 400 by field */
export function requireValid(input: IssueTexts & IssueMetadata): void {
  const problems: Record<string, string[]> = {};
  const add = (field: string, wrong: boolean, problem: string) => {
    if (wrong) (problems[field] ??= []).push(problem);
  };
  const { title, description, assigneeIds, labels, weight } = input;
  add('title', title !== undefined && title.trim() === '', "can't be blank");
  add('title', [...(title ?? '')].length > MAX_TITLE, `is too long (maximum is ${MAX_TITLE} characters)`);
  add(
    'description',
    (description ?? '').length > MAX_DESCRIPTION,
    `is too long (maximum is ${MAX_DESCRIPTION} characters)`,
  );
  add('assignees', new Set(assigneeIds).size > MAX_ASSIGNEES, `are too many (maximum is ${MAX_ASSIGNEES})`);
  add('labels', new Set(labels).size > MAX_LABELS, `are too many (maximum is ${MAX_LABELS})`);
  add('weight', (weight ?? 0) < 0, 'must be greater than or equal to 0');
  if (Object.keys(problems).length > 0) throw invalid(problems satisfies FieldProblems);
}

/** Returns those of the users who can read the issue, each once, in the order given; others are dropped silently. */
export async function assignable(
  deps: Deps,
  { project }: ProjectAccess,
  ids: readonly number[],
): Promise<UserRecord[]> {
  const distinct = [...new Set(ids)].filter((id) => id > 0).slice(0, MAX_ASSIGNEES);
  const users = await deps.store.users.getMany(distinct);
  const mays = await Promise.all(
    users.map(async (user) => {
      if (user === undefined || user.state !== 'active') return false;
      const viewer = { kind: 'user', user } as const;
      const access = await projectAccess(viewer, project, new MembershipCache(deps));
      return access !== undefined && can(viewer, access, 'read_issues');
    }),
  );
  return users.flatMap((user, i) => (mays[i] === true && user !== undefined ? [user] : []));
}
