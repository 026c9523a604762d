/** Merge requests follow labels and milestones, and settle with their project under other groups, as issues do. */

import type { TitledFacet } from '../../store/row-keys/tracked.ts';
import type { Deps } from '../deps.ts';
import { changeEach, type Following, followInProjects, PAGE, withoutTitled } from '../issues/follow.ts';
import { type Relisted, type Settling, type SettlingKind, settleKind } from '../issues/settle.ts';
import { rootOf, surroundingsOf } from '../tracked/related.ts';

/**
 * @param deadline milliseconds since 1970; no page begins after it
 * @returns where to go on; undefined at the end
 */
export async function followWithMergeRequests(
  deps: Deps,
  following: Following,
  deadline: number,
): Promise<Following | undefined> {
  const { facet } = following;
  // They have no iterations and no epics.
  if (facet !== 'label' && facet !== 'milestone') return undefined;
  return followInProjects(deps, following, deadline, (projectId, after) =>
    followPage(deps, { ...following, facet }, projectId, after),
  );
}

async function followPage(
  deps: Deps,
  { facet, valueId, successorId }: Following & { readonly facet: TitledFacet },
  projectId: number,
  after: string | undefined,
): Promise<string | undefined> {
  const { labels, mergeRequests, mergeRequestUses, milestones, projects } = deps.store;
  const used = { projectId, facet, valueId };
  const { iids, next } = await mergeRequestUses.page(used, PAGE, after);
  const project = iids.length === 0 ? undefined : await projects.get(projectId);
  if (project === undefined || project.deletedAt !== null) return undefined;
  if (successorId === undefined) {
    const value = await (facet === 'label' ? labels : milestones).get(valueId);
    if (value === undefined) return undefined;
    return mergeRequestUses.retitle(used, { rootId: rootOf(project), title: value.title }, PAGE, after);
  }
  await changeEach(iids, async (iid) => {
    const record = await mergeRequests.get({ projectId, iid });
    const change = record && withoutTitled(record, { facet, valueId }, successorId);
    if (record === undefined || change === undefined) return;
    const around = await surroundingsOf(deps, project, { ...record, ...change });
    await mergeRequests.update(record, change, around);
  });
  return next;
}

/** @returns where to go on; undefined at the end */
export function settleMergeRequests(
  deps: Deps,
  settling: Settling,
  deadline: number,
): Promise<Settling | undefined> {
  const { mergeRequestUses: uses } = deps.store;
  const kind: SettlingKind = {
    steps: ['labels', 'milestones', 'list', 'label', 'milestone', 'word'],
    nextValue: (projectId, facet, after) => uses.nextValue(projectId, facet as TitledFacet, after),
    follow: (...following) => followWithMergeRequests(deps, ...following),
    reroot: (projectId, part: Relisted, ...rows) => uses.reroot(projectId, part, ...rows),
  };
  return settleKind(deps, kind, settling, deadline);
}
