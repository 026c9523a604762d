/**
 * Issues follow a label or milestone that was deleted, replaced or renamed, and a deleted iteration or epic; epics follow
 * the days of milestones.
 */

import type { IssueFields, IssueRecord } from '../../records/issues.ts';
import type { Container } from '../../records/labels.ts';
import type { TrackedRecord } from '../../records/tracked.ts';
import { epicDatesMessage } from '../../store/epics/dates.ts';
import { Missing, Stale } from '../../store/errors.ts';
import type { IssueFacet } from '../../store/row-keys/issues.ts';
import type { TitledFacet } from '../../store/row-keys/tracked.ts';
import { mapLimit } from '../../store/table/map-limit.ts';
import type { Deps } from '../deps.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import { rootOf, surroundingsOf } from '../tracked/related.ts';
import { datesFollow } from './epic-dates.ts';

export interface Following extends Container {
  readonly facet: Exclude<IssueFacet, 'author' | 'assignee'>;
  readonly valueId: number;
  /** Of a deleted value: what takes its place, null: nothing. Absent: the value has another title, or other days. */
  readonly successorId?: number | null | undefined;
  /** Where an earlier run stopped. */
  readonly from?: Place | undefined;
  /** The second run, for issues that were being changed during the first. */
  readonly again?: boolean | undefined;
}

/** A project among those directly in a group or further below, and the row of it to go on after. */
interface Place {
  readonly row: (typeof ROWS)[number];
  readonly projectId: number;
  readonly after?: string | undefined;
}
const ROWS = ['DIRECT', 'DEEP'] as const;

/** Records read together, and changed at the same time. */
export const PAGE = 100;
const CONCURRENCY = 4;

/**
 * @param deadline milliseconds since 1970; no page begins after it
 * @returns where to go on; undefined at the end
 */
export const follow = (deps: Deps, following: Following, deadline: number): Promise<Following | undefined> =>
  followInProjects(deps, following, deadline, (projectId, after) =>
    followPage(deps, following, projectId, after),
  );

/** @param followPage returns the row to go on after; undefined at the end of the project */
export async function followInProjects(
  deps: Deps,
  following: Following,
  deadline: number,
  followPage: (projectId: number, after: string | undefined) => Promise<string | undefined>,
): Promise<Following | undefined> {
  for await (const place of placesOf(deps, following)) {
    let { after } = place;
    do {
      if (Date.now() > deadline)
        return { ...following, from: { ...place, ...(after === undefined ? {} : { after }) } };
      after = await followPage(place.projectId, after);
    } while (after !== undefined);
  }
  return undefined;
}

/** The projects that may have the value, the newest first of each row, from where an earlier run stopped. */
async function* placesOf({ store }: Deps, { kind, id, from }: Following): AsyncGenerator<Place> {
  if (kind === 'project') {
    yield from ?? { row: 'DIRECT', projectId: id };
    return;
  }
  for (const row of ROWS.slice(from === undefined ? 0 : ROWS.indexOf(from.row))) {
    for await (const projectId of store.groups.rowsBelow(id, row, 'project')) {
      if (from?.row !== row || projectId < from.projectId) yield { row, projectId };
      else if (projectId === from.projectId) yield from;
    }
  }
}

/** @returns the row to go on after; undefined at the end of the project */
async function followPage(
  deps: Deps,
  following: Following,
  projectId: number,
  after: string | undefined,
): Promise<string | undefined> {
  const { facet, valueId, successorId } = following;
  const { issues, issueUses, labels, milestones, projects } = deps.store;
  const used = { projectId, facet, valueId };
  const { iids, next } = await issueUses.page(used, PAGE, after);
  const project = iids.length === 0 ? undefined : await projects.get(projectId);
  if (project === undefined || project.deletedAt !== null) return undefined;
  if (successorId === undefined) {
    if (facet === 'epic' || facet === 'iteration') return undefined;
    const value = await (facet === 'label' ? labels : milestones).get(valueId);
    if (value === undefined) return undefined;
    if (facet === 'milestone') await tellEpics(deps, projectId, iids);
    return issueUses.retitle(
      { ...used, facet },
      { rootId: rootOf(project), title: value.title },
      PAGE,
      after,
    );
  }
  await changeEach(iids, async (iid) => {
    const issue = await issues.get({ projectId, iid });
    const change = issue && withoutValue(issue, following, successorId);
    if (issue === undefined || change === undefined) return;
    const after = { ...issue, ...change };
    const around = await surroundingsOf(deps, project, after);
    await issues.update(issue, change, around, { messages: datesFollow(issue, after) });
  });
  return next;
}

/** Changes records, a few at a time, and each again where another change came first. Those that are deleted are left. */
export async function changeEach(
  iids: readonly number[],
  change: (iid: number) => Promise<void>,
): Promise<void> {
  await mapLimit(CONCURRENCY, iids, (iid) =>
    retryOnConflict(
      () => change(iid),
      (error) => error instanceof Stale,
    ).catch((error: unknown) => {
      // The record or its project is deleted.
      if (!(error instanceof Missing)) throw error;
    }),
  );
}

/** The milestone of issues may have other days. */
async function tellEpics({ store }: Deps, projectId: number, iids: readonly number[]): Promise<void> {
  const issues = await store.issues.getMany(iids.map((iid) => ({ projectId, iid })));
  const epicIds = new Set(issues.flatMap((issue) => issue?.epicId ?? []));
  if (epicIds.size > 0) await store.outbox.commit([], [...epicIds].map(epicDatesMessage));
}

function withoutValue(
  issue: IssueRecord,
  following: Following,
  successorId: number | null,
): Partial<IssueFields> | undefined {
  const { facet, valueId } = following;
  if (facet === 'iteration') return issue.iterationId === valueId ? { iterationId: successorId } : undefined;
  if (facet === 'epic') return issue.epicId === valueId ? { epicId: successorId } : undefined;
  return withoutTitled(issue, { facet, valueId }, successorId);
}

/** What a record has in place of a label or a milestone; undefined: it does not have it. */
export function withoutTitled(
  { labelIds, milestoneId }: Pick<TrackedRecord, 'labelIds' | 'milestoneId'>,
  { facet, valueId }: { readonly facet: TitledFacet; readonly valueId: number },
  successorId: number | null,
): Partial<Pick<TrackedRecord, 'labelIds' | 'milestoneId'>> | undefined {
  if (facet === 'milestone') return milestoneId === valueId ? { milestoneId: successorId } : undefined;
  if (!labelIds.includes(valueId)) return undefined;
  const replaced = labelIds.flatMap((id) =>
    id !== valueId ? [id] : successorId === null ? [] : [successorId],
  );
  return { labelIds: [...new Set(replaced)] };
}
