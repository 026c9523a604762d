/** What an answer about issues shows beside their records, read in batches. */

import { byId } from '../../records/by-id.ts';
import type { IssueRecord } from '../../records/issues.ts';
import type { IterationRecord } from '../../records/iterations.ts';
import type { LabelRecord } from '../../records/labels.ts';
import type { MilestoneRecord } from '../../records/milestones.ts';
import type { UserRecord } from '../../records/users.ts';
import { compareText } from '../../store/table/text-order.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { type FoundEpic, visibleEpics } from '../epics/related.ts';
import { labelsOf } from '../labels/of-records.ts';
import { textsOf } from '../long-texts.ts';
import { milestonesOf } from '../tracked/related.ts';
import { closerCounts } from './closers.ts';

/** An issue that the caller may see, with the project that it is in. */
export interface FoundIssue {
  readonly issue: IssueRecord;
  readonly access: ProjectAccess;
}

export interface ShownIssue extends FoundIssue {
  readonly description: string | null;
  /** Undefined: the account is deleted. */
  readonly author: UserRecord | undefined;
  readonly assignees: readonly UserRecord[];
  /** Null: not closed, or the account is deleted. */
  readonly closedBy: UserRecord | null;
  /** By title; without deleted ones. */
  readonly labels: readonly LabelRecord[];
  readonly milestone: MilestoneRecord | undefined;
  /** Undefined: there is none of a group above the project. */
  readonly iteration: IterationRecord | undefined;
  /** Undefined: there is none that the caller may see. */
  readonly epic: FoundEpic | undefined;
  /** Merge requests that close it, as far as the caller may see them. */
  readonly mergeRequestsCount: number;
}

/** @throws 413 when the descriptions are too long together */
export async function shownIssues(
  deps: Deps,
  actor: Actor,
  found: readonly FoundIssue[],
): Promise<ShownIssue[]> {
  const issues = found.map(({ issue }) => issue);
  const userIds = issues.flatMap(({ author, assigneeIds, closedById }) => [
    author.id,
    ...assigneeIds,
    ...(closedById === null ? [] : [closedById]),
  ]);
  const [users, labels, milestones, iterations, epics, descriptions, mergeRequests] = await Promise.all([
    deps.store.users.shown(userIds),
    labelsOf(deps, issues),
    milestonesOf(deps, issues),
    iterationsOf(deps, issues),
    epicsOf(deps, actor, issues),
    textsOf(
      deps,
      issues.map(({ description }) => description ?? ''),
    ),
    closerCounts(deps, actor, found),
  ]);
  const usersById = byId(users);
  return found.map(({ issue, access }, i) => ({
    issue,
    access,
    description: issue.description === null ? null : descriptions[i]!,
    author: usersById.get(issue.author.id),
    assignees: issue.assigneeIds.flatMap((id) => usersById.get(id) ?? []),
    closedBy: issue.closedById === null ? null : (usersById.get(issue.closedById) ?? null),
    labels: issue.labelIds
      .flatMap((id) => labels.get(id) ?? [])
      .toSorted((a, b) => compareText(a.title, b.title)),
    milestone: issue.milestoneId === null ? undefined : milestones.get(issue.milestoneId),
    iteration: ofGroupAbove(access, iterations.get(issue.iterationId ?? 0)),
    epic: issue.epicId === null ? undefined : epics.get(issue.epicId),
    mergeRequestsCount: mergeRequests[i]!,
  }));
}

/** The epics of issues that the actor may see, by id: one batch each for them, their groups and memberships. */
export const epicsOf = (
  deps: Deps,
  actor: Actor,
  issues: readonly Pick<IssueRecord, 'epicId'>[],
): Promise<Map<number, FoundEpic>> =>
  visibleEpics(
    deps,
    actor,
    issues.flatMap(({ epicId }) => epicId ?? []),
  );

/** An issue that came from elsewhere has its iteration for a while: who sees it there need not see that. */
const ofGroupAbove = (
  { project }: ProjectAccess,
  iteration: IterationRecord | undefined,
): IterationRecord | undefined =>
  iteration !== undefined && project.ancestorIds.includes(iteration.container.id) ? iteration : undefined;

/** The iterations of issues by id, read in one batch. */
export async function iterationsOf(
  { store }: Deps,
  issues: readonly Pick<IssueRecord, 'iterationId'>[],
): Promise<Map<number, IterationRecord>> {
  const ids = [...new Set(issues.flatMap(({ iterationId }) => iterationId ?? []))];
  const found = ids.length === 0 ? [] : await store.iterations.getMany(ids);
  return byId(found);
}
