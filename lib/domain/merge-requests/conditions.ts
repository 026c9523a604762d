/** Filters of lists of merge requests, as conditions on their records. */

import { awardedName } from '../../records/award-emoji.ts';
import type { LabelRecord } from '../../records/labels.ts';
import { isDraft, type ListedMergeRequest, type MergeRequestState } from '../../records/merge-requests.ts';
import type { MilestoneRecord } from '../../records/milestones.ts';
import { wordsOfMergeRequest } from '../../store/merge-requests/kind.ts';
import { hasTerms, type Terms } from '../../store/search/words.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { labelsOf } from '../labels/of-records.ts';
import {
  type Choice,
  contains,
  hasAll,
  isPlannedFor,
  type MilestoneChoice,
  type SearchedText,
  wordsOf,
} from '../tracked/conditions.ts';
import { milestonesOf } from '../tracked/related.ts';

/** Filters that may also be negated: then none of the values may hold. */
export interface Selection {
  readonly authorId?: number | undefined;
  readonly assigneeIds?: Choice<readonly number[]> | undefined;
  readonly reviewerIds?: Choice<readonly number[]> | undefined;
  /** Titles, all of which it has to have. */
  readonly labels?: Choice<readonly string[]> | undefined;
  readonly milestone?: Choice<MilestoneChoice> | undefined;
  /** An emoji that the caller awarded. */
  readonly reaction?: Choice<string> | undefined;
}

export interface MergeRequestFilter extends Selection {
  readonly not?: Selection | undefined;
  readonly iids?: readonly number[] | undefined;
  /** Commits, one of which merged it. */
  readonly landed?: ReadonlySet<string> | undefined;
  /** Users who approved it, all of them. */
  readonly approvedByIds?: Choice<readonly number[]> | undefined;
  /** Users whom rules name as approvers, all of them. */
  readonly approverIds?: Choice<readonly number[]> | undefined;
  /** What deployments brought it to an environment. */
  readonly deployed?: Deployed | undefined;
  /** One of its commits. Of a list of a single project. */
  readonly commitSha?: string | undefined;
  readonly sourceBranch?: string | undefined;
  readonly targetBranch?: string | undefined;
  readonly draft?: boolean | undefined;
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
  readonly updatedAfter?: Date | undefined;
  readonly updatedBefore?: Date | undefined;
  readonly search?: string | undefined;
  readonly searchIn?: readonly SearchedText[] | undefined;
  /** What a search asks for: words of the title and of the beginning of the description, or the number. */
  readonly terms?: Terms | undefined;
}

/** Successful deployments: to an environment of this name, in this span of time. */
export interface Deployed {
  readonly environment?: string | undefined;
  readonly after?: Date | undefined;
  readonly before?: Date | undefined;
}

/** Decides for a batch of records. */
export type Matcher<R = ListedMergeRequest> = (records: readonly R[]) => Promise<boolean[]>;

interface Related {
  readonly labels: ReadonlyMap<number, LabelRecord>;
  readonly milestones: ReadonlyMap<number, MilestoneRecord>;
  /** Names of what the caller awarded to each, by its id. */
  readonly reactions: ReadonlyMap<number, readonly string[]>;
  readonly now: Date;
}

type Condition = (record: ListedMergeRequest, related: Related) => boolean;

/** Returns what decides for batches of records whether a filter holds. Related records are read where it asks for them. */
export function matcherOf(
  deps: Deps,
  actor: Actor,
  filter: MergeRequestFilter,
  states: readonly MergeRequestState[],
): Matcher {
  const conditions = conditionsOf(filter);
  const me = actor.kind === 'user' ? actor.user.id : undefined;
  const asks = (name: 'labels' | 'milestone' | 'reaction') =>
    filter[name] !== undefined || filter.not?.[name] !== undefined;
  return async (records) => {
    const [labels, milestones, reactions] = await Promise.all([
      asks('labels') ? labelsOf(deps, records) : new Map(),
      asks('milestone') ? milestonesOf(deps, records) : new Map(),
      asks('reaction') && me !== undefined ? reactionsOf(deps, records, me) : new Map(),
    ]);
    const related = { labels, milestones, reactions, now: deps.now() };
    const verdicts = records.map(
      (record) =>
        states.includes(record.state) && conditions.every((condition) => condition(record, related)),
    );
    const words = wordsOf(filter.search);
    if (words.length === 0) return verdicts;
    for (const [i, record] of records.entries())
      if (verdicts[i]) verdicts[i] = await contains(deps, record, words, filter.searchIn);
    return verdicts;
  };
}

function conditionsOf(filter: MergeRequestFilter): Condition[] {
  const conditions: Condition[] = selected(filter);
  // Each of the values that is excluded stands for itself.
  for (const one of apart(filter.not ?? {})) {
    const each = selected(one);
    conditions.push((record, related) => !each.every((condition) => condition(record, related)));
  }
  const add = <T>(value: T | undefined, condition: (value: T) => Condition) => {
    if (value !== undefined) conditions.push(condition(value));
  };
  add(
    filter.iids,
    (wanted) =>
      ({ iid }) =>
        wanted.includes(iid),
  );
  add(filter.landed, (commits) => (record) => record.state === 'merged' && commits.has(landingOf(record)));
  add(filter.approvedByIds, (wanted) => ({ approvals }) => {
    const ids = approvals.map(({ userId }) => userId);
    return hasAll(wanted, ids);
  });
  add(
    filter.sourceBranch,
    (wanted) =>
      ({ source }) =>
        source.branch === wanted,
  );
  add(
    filter.targetBranch,
    (wanted) =>
      ({ targetBranch }) =>
        targetBranch === wanted,
  );
  add(filter.draft, (wanted) => (record) => isDraft(record) === wanted);
  add(filter.terms, (wanted) => (record) => hasTerms(wanted, wordsOfMergeRequest(record), record.iid));
  add(
    filter.createdAfter?.toISOString(),
    (at) =>
      ({ createdAt }) =>
        createdAt >= at,
  );
  add(
    filter.createdBefore?.toISOString(),
    (at) =>
      ({ createdAt }) =>
        createdAt <= at,
  );
  add(
    filter.updatedAfter?.toISOString(),
    (at) =>
      ({ updatedAt }) =>
        updatedAt >= at,
  );
  add(
    filter.updatedBefore?.toISOString(),
    (at) =>
      ({ updatedAt }) =>
        updatedAt <= at,
  );
  return conditions;
}

function selected({
  authorId,
  assigneeIds,
  reviewerIds,
  labels,
  milestone,
  reaction,
}: Selection): Condition[] {
  const conditions: Condition[] = [];
  const add = <T>(value: T | undefined, condition: (value: T) => Condition) => {
    if (value !== undefined) conditions.push(condition(value));
  };
  add(
    authorId,
    (wanted) =>
      ({ author }) =>
        author.id === wanted,
  );
  add(assigneeIds, (wanted) => (record) => hasAll(wanted, record.assigneeIds));
  add(reviewerIds, (wanted) => (record) => hasAll(wanted, record.reviewerIds));
  add(labels, (wanted) => ({ labelIds }, { labels: known }) => {
    const titles = labelIds.flatMap((id) => known.get(id)?.title ?? []);
    return hasAll(wanted, titles);
  });
  add(
    milestone,
    (wanted) =>
      ({ milestoneId }, { milestones, now }) =>
        isPlannedFor(wanted, milestones.get(milestoneId ?? 0), now),
  );
  add(reaction, (wanted) => ({ id }, { reactions }) => {
    const names = reactions.get(id) ?? [];
    return hasAll(wanted === 'none' || wanted === 'any' ? wanted : [awardedName(wanted)], names);
  });
  return conditions;
}

async function reactionsOf(
  { store }: Deps,
  records: readonly ListedMergeRequest[],
  userId: number,
): Promise<Map<number, readonly string[]>> {
  const awardable = records.map(({ projectId, id }) => ({
    projectId,
    noteable: { kind: 'merge-request', id } as const,
  }));
  const names = await store.awards.namesBy(userId, awardable);
  return new Map(records.map(({ id }, i) => [id, names[i]!]));
}

/** The commit that brought a merged one to its target. */
export const landingOf = ({ mergeCommitSha, squashCommitSha, diff }: ListedMergeRequest): string =>
  mergeCommitSha ?? squashCommitSha ?? diff.headSha;

/** A selection for each single value of one. */
const apart = (selection: Selection): Selection[] =>
  Object.entries(selection).flatMap(([name, value]): Selection[] =>
    value === undefined
      ? []
      : Array.isArray(value)
        ? value.map((one) => ({ [name]: [one] }))
        : [{ [name]: value }],
  );
