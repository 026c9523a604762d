/** What callers may say about issues and merge requests, and what it names. */

import type { MilestoneRecord } from '../../records/milestones.ts';
import type { StoredText } from '../../records/texts.ts';
import type { UserRecord } from '../../records/users.ts';
import type { ProjectAbility } from '../access/abilities/all.ts';
import { MembershipCache } from '../access/effective-level.ts';
import { projectAccess } from '../access/open-request.ts';
import { can } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import { type FieldProblems, invalid } from '../errors.ts';
import { findOrCreateLabels } from '../labels/labels.ts';
import { milestoneFor } from '../milestones/milestones.ts';

export const MAX_TITLE = 255;
/** Characters. */
const MAX_DESCRIPTION = 1_048_576;
export const MAX_ASSIGNEES = 200;
/** Of one record. */
export const MAX_LABELS = 500;

interface Given {
  readonly title?: string | undefined;
  readonly description?: string | null | undefined;
  readonly assigneeIds?: readonly number[] | undefined;
  readonly labels?: readonly string[] | undefined;
}

/** What is wrong with values, by field. */
export function problemsOf({ title, description, assigneeIds, labels }: Given): FieldProblems {
  const problems: Record<string, string[]> = {};
  const add = (field: string, wrong: boolean, problem: string) => {
    if (wrong) (problems[field] ??= []).push(problem);
  };
  add('title', title !== undefined && title.trim() === '', "can't be blank");
  add('title', [...(title ?? '')].length > MAX_TITLE, `is too long (maximum is ${MAX_TITLE} characters)`);
  add(
    'description',
    (description ?? '').length > MAX_DESCRIPTION,
    `is too long (maximum is ${MAX_DESCRIPTION} characters)`,
  );
  add('assignees', new Set(assigneeIds).size > MAX_ASSIGNEES, `are too many (maximum is ${MAX_ASSIGNEES})`);
  add('labels', new Set(labels).size > MAX_LABELS, `are too many (maximum is ${MAX_LABELS})`);
  return problems;
}

/** @throws 400 by field */
export function requireNoProblems(problems: FieldProblems): void {
  if (Object.keys(problems).length > 0) throw invalid(problems);
}

/** Returns those of the users who have an ability in the project, each once, in the order given; others are dropped silently. */
export async function assignable(
  deps: Deps,
  { project }: ProjectAccess,
  ids: readonly number[],
  ability: ProjectAbility,
): Promise<UserRecord[]> {
  const distinct = [...new Set(ids)].filter((id) => id > 0).slice(0, MAX_ASSIGNEES);
  const users = await deps.store.users.getMany(distinct);
  const mays = await Promise.all(
    users.map(async (user) => {
      if (user === undefined || user.state !== 'active') return false;
      const viewer = { kind: 'user', user } as const;
      const access = await projectAccess(viewer, project, new MembershipCache(deps));
      return access !== undefined && can(viewer, access, ability);
    }),
  );
  return users.flatMap((user, i) => (mays[i] === true && user !== undefined ? [user] : []));
}

/** A milestone of the project or of a group above; others count as none. @returns undefined where it stays as it is */
export async function usableMilestone(
  deps: Deps,
  access: ProjectAccess,
  id: number | null | undefined,
): Promise<MilestoneRecord | null | undefined> {
  if (id === undefined) return undefined;
  return id === null || id <= 0 ? null : ((await milestoneFor(deps, access, id)) ?? null);
}

/** Titles. */
interface LabelsInput {
  readonly labels?: readonly string[] | undefined;
  readonly addLabels?: readonly string[] | undefined;
  readonly removeLabels?: readonly string[] | undefined;
}

/**
 * Finds the labels of a change.
 * @param first what has to succeed before one is created
 * @returns what it makes of those that a record has
 * @throws 400 for too many
 */
export async function labelChange(
  deps: Deps,
  access: ProjectAccess,
  { labels, addLabels = [], removeLabels = [] }: LabelsInput,
  first?: () => Promise<unknown>,
): Promise<(before: { readonly labelIds: readonly number[] }) => { readonly labelIds?: readonly number[] }> {
  if (labels === undefined && addLabels.length + removeLabels.length === 0) return () => ({});
  const idsOf = async (titles: readonly string[], create: boolean) =>
    (await findOrCreateLabels(deps, access, titles, { create, first })).map(({ id }) => id);
  const [set, added, removed] = await Promise.all([
    labels && idsOf(labels, true),
    idsOf(addLabels, true),
    idsOf(removeLabels, false),
  ]);
  return (before) => {
    const labelIds = [...new Set([...(set ?? before.labelIds), ...added])];
    const left = labelIds.filter((id) => !removed.includes(id));
    if (left.length > MAX_LABELS) throw invalid({ labels: [`are too many (maximum is ${MAX_LABELS})`] });
    return { labelIds: left };
  };
}

/** Keeps a text: a long one in the bucket. */
export const keptText = async (
  { store }: Deps,
  projectId: number,
  text: string | null,
): Promise<StoredText | null> => (text === null ? null : store.texts.keep(projectId, text));
