/** Filters of lists of issues, as conditions on their records. */

import { awardedName } from '../../records/award-emoji.ts';
import { classOf, type IssueClass, type IssueRecord, type IssueType } from '../../records/issues.ts';
import { type IterationRecord, iterationStateOn } from '../../records/iterations.ts';
import type { LabelRecord } from '../../records/labels.ts';
import type { MilestoneRecord } from '../../records/milestones.ts';
import { wordsOfIssue } from '../../store/issues/kind.ts';
import { hasTerms, type Terms } from '../../store/search/words.ts';
import type { Actor } from '../actor.ts';
import { dayIn, dayOf } from '../days.ts';
import type { Deps } from '../deps.ts';
import type { FoundEpic } from '../epics/related.ts';
import { labelsOf } from '../labels/of-records.ts';
import {
  type Choice,
  chosen,
  contains,
  hasAll,
  isPlannedFor,
  type MilestoneChoice,
  wordsOf,
} from '../tracked/conditions.ts';
import { milestonesOf } from '../tracked/related.ts';
import { epicsOf, iterationsOf } from './related.ts';

/** Filters that may also be negated: then none of the values may hold. */
export interface Selection {
  readonly iids?: readonly number[] | undefined;
  readonly authorId?: number | undefined;
  /** Several: the issue has to be assigned to all of them. */
  readonly assigneeIds?: Choice<readonly number[]> | undefined;
  /** Titles, all of which the issue has to have. */
  readonly labels?: Choice<readonly string[]> | undefined;
  readonly milestone?: Choice<MilestoneChoice> | undefined;
  /** `current`: one that has the present day. */
  readonly iterationId?: Choice<number | 'current'> | undefined;
  readonly iterationTitle?: string | undefined;
  readonly epicId?: Choice<number> | undefined;
  readonly weight?: Choice<number> | undefined;
  /** An emoji that the caller awarded. */
  readonly reaction?: Choice<string> | undefined;
}

export const DUE_DATES = [
  ...(['0', 'any', 'today', 'tomorrow', 'overdue', 'week', 'month'] as const),
  'next_month_and_previous_two_weeks',
] as const;
export type DueDate = (typeof DUE_DATES)[number];

export interface IssueFilter extends Selection {
  readonly not?: Selection | undefined;
  readonly type?: IssueType | undefined;
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
  readonly updatedAfter?: Date | undefined;
  readonly updatedBefore?: Date | undefined;
  readonly dueDate?: DueDate | undefined;
  readonly healthStatus?: Choice<string> | undefined;
  readonly search?: string | undefined;
  readonly searchIn?: readonly ('title' | 'description')[] | undefined;
  /** What a search asks for: words of the title and of the beginning of the description, or the number. */
  readonly terms?: Terms | undefined;
}

interface Related {
  readonly labels: ReadonlyMap<number, LabelRecord>;
  readonly milestones: ReadonlyMap<number, MilestoneRecord>;
  readonly iterations: ReadonlyMap<number, IterationRecord>;
  /** Those that the caller may see; others count as none. */
  readonly epics: ReadonlyMap<number, FoundEpic>;
  /** Names of what the caller awarded to each issue, by its id. */
  readonly reactions: ReadonlyMap<number, readonly string[]>;
  readonly now: Date;
}

type Condition = (issue: IssueRecord, related: Related) => boolean;

/**
 * Returns what decides for batches of records whether a filter holds. Labels, milestones and reactions are read where it
 * asks for them, and long descriptions where a search gets that far.
 */
export function matcherOf(
  deps: Deps,
  actor: Actor,
  filter: IssueFilter,
  classes: readonly IssueClass[],
): (issues: readonly IssueRecord[]) => Promise<boolean[]> {
  const conditions = conditionsOf(filter);
  const me = actor.kind === 'user' ? actor.user.id : undefined;
  const asks = (name: 'labels' | 'milestone' | 'iterationId' | 'iterationTitle' | 'epicId' | 'reaction') =>
    filter[name] !== undefined || filter.not?.[name] !== undefined;
  return async (issues) => {
    const [labels, milestones, iterations, epics, reactions] = await Promise.all([
      asks('labels') ? labelsOf(deps, issues) : new Map(),
      asks('milestone') ? milestonesOf(deps, issues) : new Map(),
      asks('iterationId') || asks('iterationTitle') ? iterationsOf(deps, issues) : new Map(),
      asks('epicId') ? epicsOf(deps, actor, issues) : new Map(),
      asks('reaction') && me !== undefined ? reactionsOf(deps, issues, me) : new Map(),
    ]);
    const related = { labels, milestones, iterations, epics, reactions, now: deps.now() };
    const verdicts = issues.map(
      (issue) =>
        classes.includes(classOf(issue)) && conditions.every((condition) => condition(issue, related)),
    );
    const words = wordsOf(filter.search);
    if (words.length === 0) return verdicts;
    for (const [i, issue] of issues.entries())
      if (verdicts[i]) verdicts[i] = await contains(deps, issue, words, filter.searchIn);
    return verdicts;
  };
}

function conditionsOf(filter: IssueFilter): Condition[] {
  const { type, createdAfter, createdBefore, updatedAfter, updatedBefore, dueDate } = filter;
  const { healthStatus, not = {} } = filter;
  const conditions: Condition[] = [...selected(filter)];
  // Each of the values that is excluded stands for itself.
  for (const one of apart(not)) {
    const each = selected(one);
    conditions.push((issue, related) => !each.every((condition) => condition(issue, related)));
  }
  const add = <T>(value: T | undefined, condition: (value: T) => Condition) => {
    if (value !== undefined) conditions.push(condition(value));
  };
  add(type, (wanted) => (issue) => issue.type === wanted);
  add(filter.terms, (wanted) => (issue) => hasTerms(wanted, wordsOfIssue(issue), issue.iid));
  add(createdAfter?.toISOString(), (at) => (issue) => issue.createdAt >= at);
  add(createdBefore?.toISOString(), (at) => (issue) => issue.createdAt <= at);
  add(updatedAfter?.toISOString(), (at) => (issue) => issue.updatedAt >= at);
  add(updatedBefore?.toISOString(), (at) => (issue) => issue.updatedAt <= at);
  add(dueDate, due);
  add(healthStatus, (wanted) => (issue) => chosen(wanted, issue.healthStatus));
  return conditions;
}

function selected(selection: Selection): Condition[] {
  const { iids, authorId, assigneeIds, labels, milestone, iterationId, iterationTitle } = selection;
  const { epicId, weight, reaction } = selection;
  const conditions: Condition[] = [];
  const add = <T>(value: T | undefined, condition: (value: T) => Condition) => {
    if (value !== undefined) conditions.push(condition(value));
  };
  add(iids, (wanted) => (issue) => wanted.includes(issue.iid));
  add(authorId, (wanted) => (issue) => issue.author.id === wanted);
  add(assigneeIds, (wanted) => (issue) => hasAll(wanted, issue.assigneeIds));
  add(labels, (wanted) => (issue, { labels: known }) => {
    const titles = issue.labelIds.flatMap((id) => known.get(id)?.title ?? []);
    return hasAll(wanted, titles);
  });
  add(
    milestone,
    (wanted) =>
      ({ milestoneId }, { milestones, now }) =>
        isPlannedFor(wanted, milestones.get(milestoneId ?? 0), now),
  );
  add(iterationId, (wanted) => (issue, { iterations, now }) => {
    const iteration = iterations.get(issue.iterationId ?? 0);
    if (wanted !== 'current') return chosen(wanted, iteration?.id ?? null);
    return iteration !== undefined && iterationStateOn(iteration, dayOf(now)) === 'current';
  });
  add(
    iterationTitle,
    (wanted) =>
      (issue, { iterations }) =>
        iterations.get(issue.iterationId ?? 0)?.title === wanted,
  );
  add(epicId, (wanted) => (issue, { epics }) => {
    const visible = issue.epicId !== null && epics.has(issue.epicId);
    return chosen(wanted, visible ? issue.epicId : null);
  });
  add(weight, (wanted) => (issue) => chosen(wanted, issue.weight));
  add(reaction, (wanted) => ({ id }, { reactions }) => {
    const names = reactions.get(id) ?? [];
    return hasAll(wanted === 'none' || wanted === 'any' ? wanted : [awardedName(wanted)], names);
  });
  return conditions;
}

async function reactionsOf(
  { store }: Deps,
  issues: readonly IssueRecord[],
  userId: number,
): Promise<Map<number, readonly string[]>> {
  const awardable = issues.map(({ projectId, id }) => ({
    projectId,
    noteable: { kind: 'issue', id } as const,
  }));
  const names = await store.awards.namesBy(userId, awardable);
  return new Map(issues.map(({ id }, i) => [id, names[i]!]));
}

/** A selection for each single value of one. */
function apart(selection: Selection): Selection[] {
  return Object.entries(selection).flatMap(([name, value]): Selection[] => {
    if (value === undefined) return [];
    if (!Array.isArray(value)) return [{ [name]: value }];
    if (name === 'iids') return value.length === 0 ? [] : [{ iids: value as number[] }];
    return value.map((one) => ({ [name]: [one] }));
  });
}

function due(wanted: DueDate): Condition {
  return ({ dueDate }, { now }) => {
    if (wanted === '0') return dueDate === null;
    if (dueDate === null) return false;
    const within = (from: string, to: string) => from <= dueDate && dueDate <= to;
    const today = dayOf(now);
    switch (wanted) {
      case 'any':
        return true;
      case 'today':
        return dueDate === today;
      case 'tomorrow':
        return dueDate === dayIn(now, 1);
      case 'overdue':
        return dueDate < today;
      case 'week': {
        // Weeks begin on Monday.
        const monday = -((now.getUTCDay() + 6) % 7);
        return within(dayIn(now, monday), dayIn(now, monday + 6));
      }
      case 'month':
        return dueDate.slice(0, 7) === today.slice(0, 7);
      case 'next_month_and_previous_two_weeks': {
        const afterNext = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 2, 0));
        return within(dayIn(now, -14), dayOf(afterNext));
      }
    }
  };
}
